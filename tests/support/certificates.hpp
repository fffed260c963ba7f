#pragma once
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace holdfast::test {

/// Certificates of a private authority, created by the openssl program.
class certificates {
 public:
  certificates() {
    authority("ca");
    authority("stranger");
    sign("server", "DNS:localhost");
    sign("other", "DNS:elsewhere.example");
    sign("numbers", "IP:127.0.0.1,IP:::1");
    sign("client", "DNS:client");
    sign("localhost", "");  // without a subjectAltName
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  /// Options that make a server use TLS at this port with that certificate.
  [[nodiscard]] std::vector<std::string> of_server(const std::string& certificate, int port) const {
    return {"--tls-port",
            std::to_string(port),
            "--bind",
            "127.0.0.1",
            "::1",
            "--tls-cert-file",
            file(certificate + ".crt"),
            "--tls-key-file",
            file(certificate + ".key"),
            "--tls-ca-cert-file",
            file("ca.crt"),
            "--tls-auth-clients",
            "no"};
  }

 private:
  void run(const std::string& words) const {
    const std::string command = "cd " + folder_.file("") + " && openssl " + words + " >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("openssl " + words);  // NOLINT
  }
  void authority(const std::string& name) const {
    run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" + name + " -keyout " +
        name + ".key -out " + name + ".crt");
  }
  /// The CN is `name`.
  void sign(const std::string& name, const std::string& alternatives) const {
    run("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=" + name +
        (alternatives.empty() ? "" : " -addext subjectAltName=" + alternatives) + " -keyout " + name + ".key -out " +
        name + ".csr");
    run("x509 -req -in " + name + ".csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy -out " +
        name + ".crt");
  }
  test::temporary_folder folder_;
};

}  // namespace holdfast::test
