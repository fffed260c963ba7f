// TLS certificates are always verified, both chain and name. Addresses may be IPv4, IPv6 and names with several.
#include <gtest/gtest.h>

#include <fstream>

#include "faults/redis_store.hpp"
#include "support/certificates.hpp"

namespace holdfast::faults {
namespace {

class redis_tls : public testing::Test {
 protected:
  static void SetUpTestSuite() { made = std::make_unique<test::certificates>(); }
  static void TearDownTestSuite() { made.reset(); }

  /// A server with that certificate; `clients` yes, no or optional.
  void start(const std::string& certificate, const std::string& clients = "no",
             const std::string& versions = "TLSv1.2 TLSv1.3") {
    server.reset();
    std::vector<std::string> options = made->of_server(certificate, port);
    options.insert(options.end(), {"--tls-auth-clients", clients, "--tls-protocols", versions});
    server.emplace(options);
  }
  [[nodiscard]] std::string url(const std::string& host, const std::string& options = {}) const {
    return "rediss://" + host + ":" + std::to_string(port) + "/?ca=" + made->file("ca.crt") + options;
  }
  static void works(const std::string& at) {
    watched_client one(at), other(at);
    lease held = one.store.acquire("a");
    auto waiting = other.wait_for("a");
    EXPECT_EQ(held.release(), released::yes);
    EXPECT_TRUE(test::get(std::move(waiting)));
  }
  static auto refusal(const std::string& at) {
    return failure_of([&] { (void)open(at, {.patience = 2s}).acquire("a"); });
  }

  static std::unique_ptr<test::certificates> made;
  const int port = test::free_port();
  std::optional<test::redis_server> server;
};

std::unique_ptr<test::certificates> redis_tls::made;

TEST_F(redis_tls, accepts_a_valid_chain_and_name) {
  start("server");
  works(url("localhost"));
}

TEST_F(redis_tls, accepts_addresses_in_the_certificate) {
  start("numbers");
  works(url("127.0.0.1"));
  works(url("[::1]"));
}

TEST_F(redis_tls, rejects_a_server_with_another_name_permanently) {
  start("other");
  const auto [why, text] = refusal(url("localhost"));
  EXPECT_EQ(why, errc::denied);
  EXPECT_NE(text.find("not trusted"), std::string::npos) << text;
}

/// RFC 9525: a name counts in the subjectAltName only.
TEST_F(redis_tls, rejects_a_certificate_with_its_name_only_in_the_cn) {
  start("localhost");
  const auto [why, text] = refusal(url("localhost"));
  EXPECT_EQ(why, errc::denied);
  EXPECT_NE(text.find("issue one with subjectAltName=DNS:localhost"), std::string::npos) << text;
  const auto [by_number, words] = refusal(url("127.0.0.1"));
  EXPECT_EQ(by_number, errc::denied);
  EXPECT_NE(words.find("issue one with subjectAltName=IP:127.0.0.1"), std::string::npos) << words;
}

TEST_F(redis_tls, rejects_an_unknown_authority_permanently) {
  start("server");
  const std::string stranger = "rediss://localhost:" + std::to_string(port) + "/?ca=" + made->file("stranger.crt");
  EXPECT_EQ(refusal(stranger).first, errc::denied);
  const std::string of_the_system = "rediss://localhost:" + std::to_string(port);
  EXPECT_EQ(refusal(of_the_system).first, errc::denied);
}

TEST_F(redis_tls, presents_a_client_certificate_if_required) {
  start("server", "yes");
  works(url("localhost", "&cert=" + made->file("client.crt") + "&key=" + made->file("client.key")));
}

TEST_F(redis_tls, reports_a_missing_client_certificate_at_once) {
  for (const std::string version : {"TLSv1.3", "TLSv1.2"}) {
    start("server", "yes", version);
    const auto began = boot_clock::now();
    const auto [why, text] = failure_of([&] { (void)open(url("localhost"), {.patience = 1h}).acquire("a"); });
    EXPECT_EQ(why, errc::denied) << version << ": " << text;
    EXPECT_NE(text.find("add cert= and key="), std::string::npos) << version << ": " << text;
    EXPECT_LT(boot_clock::now() - began, test::hang);
  }
}

TEST_F(redis_tls, reports_a_rejected_client_certificate) {
  for (const std::string version : {"TLSv1.3", "TLSv1.2"}) {
    start("server", "yes", version);
    const auto [why, text] =
        refusal(url("localhost", "&cert=" + made->file("stranger.crt") + "&key=" + made->file("stranger.key")));
    EXPECT_EQ(why, errc::denied) << version << ": " << text;
    EXPECT_NE(text.find("rejected the client certificate"), std::string::npos) << version << ": " << text;
  }
}

TEST_F(redis_tls, needs_no_client_certificate_if_it_is_optional) {
  start("server", "optional");
  works(url("localhost"));
}

TEST_F(redis_tls, reports_a_missing_key) {
  const auto [why, text] = failure_of([&] { (void)open(url("localhost", "&cert=" + made->file("client.crt"))); });
  EXPECT_EQ(why, errc::bad_option);
  EXPECT_NE(text.find("key= is missing"), std::string::npos) << text;
  EXPECT_NE(text.find("client.crt"), std::string::npos) << text;
}

TEST_F(redis_tls, reports_a_server_without_tls) {
  test::redis_server plain({"--port", std::to_string(port), "--bind", "127.0.0.1"});
  const auto [why, text] = refusal(url("127.0.0.1"));
  EXPECT_EQ(why, errc::unreachable);
  EXPECT_NE(text.find("does the server speak TLS?"), std::string::npos) << text;
}

TEST_F(redis_tls, never_falls_back_to_plaintext) {
  start("server");
  const auto [why, text] =
      refusal("redis://localhost:" + std::to_string(port) + "/?timeout=300ms&connect_timeout=300ms");
  EXPECT_EQ(why, errc::unreachable) << text;
  EXPECT_NE(text.find("does the server want TLS? then say rediss://"), std::string::npos) << text;
}

TEST_F(redis_tls, names_the_file_that_cannot_be_used) {
  const auto [why, text] = failure_of([&] { (void)open(url("localhost", "&cert=/nowhere.crt")); });
  EXPECT_EQ(why, errc::bad_option);
  EXPECT_NE(text.find("/nowhere.crt"), std::string::npos) << text;
}

TEST(redis_address, may_be_of_either_kind) {
  const int port = test::free_port();
  const std::string number = std::to_string(port);
  for (const char* bound : {"127.0.0.1", "::1"}) {
    test::redis_server server({"--port", number, "--bind", bound});
    const std::string numeric = std::string(bound) == "::1" ? "[::1]" : bound;
    EXPECT_TRUE(open("valkey://" + numeric + ":" + number).try_acquire("a"));
  }
}

TEST(redis_address, is_named_if_it_cannot_be_resolved) {
  const auto [why, text] =
      failure_of([] { (void)open("redis://no.such.host.invalid", {.patience = 200ms}).acquire("a"); });
  EXPECT_EQ(why, errc::unreachable);
  EXPECT_NE(text.find("no.such.host.invalid"), std::string::npos) << text;
}

TEST(redis_secrets, are_read_from_file_or_environment_and_never_shown) {
  test::redis_server server;
  EXPECT_EQ(server.ask({"ACL", "SETUSER", "default", ">hunter2"}).text, "OK");
  test::temporary_folder folder;
  std::ofstream(folder.file("password")) << "hunter2\n";
  ::setenv("HOLDFAST_TEST_PASSWORD", "hunter2", 1);
  for (const std::string& from :
       {"password_file=" + folder.file("password"), std::string("password_env=HOLDFAST_TEST_PASSWORD")}) {
    store s = open(server.url(from));
    EXPECT_TRUE(s.try_acquire("a"));
    EXPECT_EQ(s.url().find("hunter2"), std::string::npos);
  }
  ::unsetenv("HOLDFAST_TEST_PASSWORD");
  store s = open("redis+unix://:hunter2@" + server.socket());
  EXPECT_TRUE(s.try_acquire("a"));
  EXPECT_EQ(s.url().find("hunter2"), std::string::npos) << s.url();
}

}  // namespace
}  // namespace holdfast::faults
