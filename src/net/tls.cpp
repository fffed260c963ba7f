#include "net/tls.hpp"

#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "net/ready.hpp"

namespace holdfast::net {

namespace {

std::string words_of_openssl() {
  std::string words;
  while (const unsigned long error = ::ERR_get_error()) {
    const char* reason = ::ERR_reason_error_string(error);
    if (reason != nullptr) words.append(words.empty() ? "" : ", ").append(reason);
  }
  return words.empty() ? "TLS failed" : words;
}

/// The connection that OpenSSL reads from and writes to.
struct below {
  std::unique_ptr<stream> bytes;
  bool soon = false;      // use receive_soon()
  std::string why{};      // the error, once it broke
  bool has_none = false;  // the server requested a client certificate, and none is set
};

/// Whether the server rejected the client certificate, or the lack of one. Retrying cannot help then.
bool is_about_our_certificate(unsigned long error, bool has_none) noexcept {
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) return false;
  switch (ERR_GET_REASON(error)) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA: return true;
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE: return has_none;  // the only alert of TLS 1.2 for a missing one
    default: return false;
  }
}

/// The error after a call of OpenSSL failed.
broken breach(const below& under, const char* hint) {
  const bool ours = is_about_our_certificate(::ERR_peek_error(), under.has_none);
  if (ours && under.has_none)
    return broken("the server requires a client certificate; add cert= and key= to the URL", true);
  if (ours) return broken("the server rejected the client certificate: " + words_of_openssl(), true);
  return broken((under.why.empty() ? words_of_openssl() : under.why) + hint);
}

int note_request(SSL* ssl, X509**, EVP_PKEY**) {
  static_cast<below*>(SSL_get_app_data(ssl))->has_none = true;
  return 0;
}

int move_bytes(BIO* bio, const auto& move) {
  ::BIO_clear_retry_flags(bio);
  auto& under = *static_cast<below*>(::BIO_get_data(bio));
  try {
    const std::size_t n = move(under);
    if (n > 0) return static_cast<int>(n);
    return -1;
  } catch (const broken& e) {
    under.why = e.what();
    return 0;
  }
}

int read_below(BIO* bio, char* into, int size) {
  const int n = move_bytes(bio, [&](below& under) {
    const std::span<char> room(into, static_cast<std::size_t>(size));
    return under.soon ? under.bytes->receive_soon(room) : under.bytes->receive(room);
  });
  if (n < 0) ::BIO_set_retry_read(bio);
  return n;
}

int write_below(BIO* bio, const char* from, int size) {
  const int n = move_bytes(
      bio, [&](below& under) { return under.bytes->send(std::string_view(from, static_cast<std::size_t>(size))); });
  if (n < 0) ::BIO_set_retry_write(bio);
  return n;
}

long control_below(BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* method() {
  static BIO_METHOD* const the_one = [] {
    BIO_METHOD* m = ::BIO_meth_new(BIO_TYPE_SOURCE_SINK | ::BIO_get_new_index(), "holdfast stream");
    ::BIO_meth_set_read(m, read_below);
    ::BIO_meth_set_write(m, write_below);
    ::BIO_meth_set_ctrl(m, control_below);
    ::BIO_meth_set_create(m, [](BIO* bio) {
      ::BIO_set_init(bio, 1);
      return 1;
    });
    return m;
  }();
  return the_one;
}

class tls_stream final : public stream {
 public:
  tls_stream(std::unique_ptr<stream> under, SSL_CTX* context, const std::string& host)
      : below_{.bytes = std::move(under)}, host_(host), ssl_(::SSL_new(context)) {
    BIO* bio = ::BIO_new(method());
    if (ssl_ == nullptr || bio == nullptr) throw broken(words_of_openssl());
    ::BIO_set_data(bio, &below_);
    ::SSL_set_bio(ssl_.get(), bio, bio);
    ::SSL_set_connect_state(ssl_.get());
    SSL_set_app_data(ssl_.get(), &below_);
    in6_addr numeric{};
    X509_VERIFY_PARAM* expected = ::SSL_get0_param(ssl_.get());
    const bool is_address =
        ::inet_pton(AF_INET, host.c_str(), &numeric) == 1 || ::inet_pton(AF_INET6, host.c_str(), &numeric) == 1;
    ::X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    const bool set = is_address ? ::X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1
                                : ::X509_VERIFY_PARAM_set1_host(expected, host.data(), host.size()) == 1 &&
                                      ::SSL_set_tlsext_host_name(ssl_.get(), host.c_str()) == 1;
    if (!set) throw std::bad_alloc();  // otherwise the name would not be verified
  }

  void shake_hands(const limit& l) {
    for (;;) {
      ::ERR_clear_error();
      const int done = ::SSL_do_handshake(ssl_.get());
      if (done == 1) return;
      const int what = ::SSL_get_error(ssl_.get(), done);
      if (what != SSL_ERROR_WANT_READ && what != SSL_ERROR_WANT_WRITE) {
        const long verified = ::SSL_get_verify_result(ssl_.get());
        if (verified != X509_V_OK) {
          throw broken(distrust(verified), true);
        }
        throw breach(below_, " (during the TLS handshake; does the server speak TLS?)");
      }
      const readiness why = what == SSL_ERROR_WANT_READ ? wait_readable(fd(), l) : wait_writable(fd(), l);
      if (why == readiness::stopped) throw broken("asked to stop");
      if (why == readiness::late) throw broken::late("no answer to the TLS handshake; does the server speak TLS?");
    }
  }

  std::size_t receive(std::span<char> into) override { return read(into, false); }
  std::size_t receive_soon(std::span<char> into) override { return read(into, true); }

  std::size_t send(std::string_view bytes) override {
    if (bytes.empty()) return 0;
    ::ERR_clear_error();
    below_.soon = false;
    std::size_t n = 0;
    const int done = ::SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &n);
    return done == 1 ? n : nothing_yet(done);
  }

  [[nodiscard]] int fd() const noexcept override { return below_.bytes->fd(); }

 private:
  /// RFC 9525: names are matched against the subjectAltName only, not the CN.
  [[nodiscard]] std::string distrust(long verified) const {
    const bool by_name = verified == X509_V_ERR_HOSTNAME_MISMATCH;
    const bool by_address = verified == X509_V_ERR_IP_ADDRESS_MISMATCH;
    std::string text = "the server's certificate is not trusted: ";
    text += ::X509_verify_cert_error_string(verified);
    if (!by_name && !by_address) return text;
    return text + "; issue one with subjectAltName=" + (by_name ? "DNS:" : "IP:") + host_ + " (a CN does not count)";
  }

  /// Reads one record, of at most 16 KiB. With a buffer of that size OpenSSL keeps no decrypted bytes back, of which
  /// the descriptor would not tell.
  std::size_t read(std::span<char> into, bool soon) {
    ::ERR_clear_error();
    below_.soon = soon;
    std::size_t n = 0;
    const int done = ::SSL_read_ex(ssl_.get(), into.data(), into.size(), &n);
    return done == 1 ? n : nothing_yet(done);
  }

  std::size_t nothing_yet(int done) {
    const int what = ::SSL_get_error(ssl_.get(), done);
    if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE) return 0;
    if (what == SSL_ERROR_ZERO_RETURN) throw broken("the server closed the connection");
    throw breach(below_, "");
  }

  struct free_ssl {
    void operator()(SSL* s) const noexcept { ::SSL_free(s); }
  };
  below below_;
  const std::string host_;
  std::unique_ptr<SSL, free_ssl> ssl_;
};

[[noreturn]] void refuse(const char* what, const std::string& file) {
  throw broken(std::string(what) + " " + file + ": " + words_of_openssl(), true);
}

}  // namespace

tls::tls(const tls_files& files) : context_(::SSL_CTX_new(::TLS_client_method()), ::SSL_CTX_free) {
  if (context_ == nullptr) throw broken(words_of_openssl());
  SSL_CTX* c = context_.get();
  ::SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
  ::SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
  ::SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
  if (files.ca.empty()) {
    if (::SSL_CTX_set_default_verify_paths(c) != 1) throw broken(words_of_openssl(), true);
  } else if (::SSL_CTX_load_verify_locations(c, files.ca.c_str(), nullptr) != 1) {
    refuse("cannot use the authorities in", files.ca);
  }
  if (!files.cert.empty() && ::SSL_CTX_use_certificate_chain_file(c, files.cert.c_str()) != 1) {
    refuse("cannot use the certificate in", files.cert);
  }
  ::SSL_CTX_set_client_cert_cb(c, note_request);
  const std::string& key = files.key.empty() ? files.cert : files.key;
  if (!key.empty() && ::SSL_CTX_use_PrivateKey_file(c, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    refuse(files.key.empty() ? "key= is missing, and there is no key in" : "cannot use the key in", key);
  }
  if (!files.cert.empty() && ::SSL_CTX_check_private_key(c) != 1) refuse("the certificate does not belong to", key);
}

std::unique_ptr<stream> tls::secure(std::unique_ptr<stream> under, const std::string& host, const limit& l) const {
  auto made = std::make_unique<tls_stream>(std::move(under), context_.get(), host);
  made->shake_hands(l);
  return made;
}

}  // namespace holdfast::net
