// Redis takes part in the suite as the user that docs/stores/redis.md tells to make, who may do nothing else.
#include <fstream>
#include <sstream>

#include "conformance/redis_service.hpp"
#include "redis/client.hpp"
#include "service.hpp"

namespace holdfast::conformance {
namespace {

/// The words of the first line of the document that begins so, with the lines that continue it, as a shell reads them.
std::vector<std::string> acl_in_the_document() {
  std::ifstream document(HOLDFAST_SOURCE_DIR "/docs/stores/redis.md");
  const std::string program = "redis-cli ";
  std::vector<std::string> words;
  std::string line;
  while (std::getline(document, line) && !line.starts_with(program + "ACL SETUSER holdfast ")) {
  }
  line.erase(0, program.size());
  do {
    std::istringstream in(line);
    for (std::string word; in >> word;) {
      std::erase(word, '\'');
      if (word != "\\") words.push_back(word == ">SECRET" ? ">a secret" : word);
    }
  } while (std::getline(document, line) && line.starts_with("  "));
  return words;
}

class least_privilege final : public redis_service {
 public:
  least_privilege() {
    const redis::value done = server_.ask(acl_in_the_document());
    EXPECT_EQ(done.text, "OK");
  }
  ~least_privilege() override {
    const redis::value log = server_.ask({"ACL", "LOG"});
    EXPECT_TRUE(log.items.empty()) << "the server has refused something";
  }
  store open(const open_options& options) override {
    const std::string secret = url("holdfast:a%20secret@");
    const auto make = [&](runtime::loop& loop) { return clients_.add(redis::client::open(secret, loop)); };
    return detail::service::open(url(), make, options);
  }
};

const joined redis_store("redis_least_privilege", redis_service::promised,
                         {power::fall_silent, power::lose_replies, power::cut_replies, power::share, power::numbers,
                          power::oversee, power::lose_state, power::list_names},
                         600ms, [] { return std::make_unique<least_privilege>(); });

}  // namespace
}  // namespace holdfast::conformance
