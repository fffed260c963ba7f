// A password is never shown, neither in a redacted URL nor in an error about a bad one. The password consists of Q, Z
// and characters with a meaning in URLs; the rest of the URL contains no Q or Z.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/demand.hpp"
#include "net/url.hpp"
#include "redis/protocol/settings.hpp"
#include "storage/answer.hpp"

namespace holdfast {
namespace {

using test::demand;

bool is_silent(std::string_view text) { return text.find_first_of("QZ") == std::string_view::npos; }

/// Returns and removes the next line.
std::string_view line(std::string_view& bytes) {
  const std::string_view first = bytes.substr(0, bytes.find('\n'));
  bytes.remove_prefix(std::min(bytes.size(), first.size() + 1));
  return first;
}

/// Text around the password: without its letters, encoded or not.
std::string around(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text.push_back(c == 'Q' || c == 'Z' ? 'q' : c);
  for (std::size_t at = 0; (at = text.find("%5", at)) != std::string::npos;) text.replace(at, 2, "%6");
  return text;
}

std::string password(std::string_view bytes) {
  constexpr std::string_view letters = "QZQZ%@:/?&=[]#.+-\\ \"'0159afA";
  std::string text = "Q";
  for (const char c : bytes) text.push_back(letters[static_cast<unsigned char>(c) % letters.size()]);
  return text;
}

void check_words_about(const std::string& url) {
  try {
    const net::url u = net::url::parse(url);
    demand(is_silent(u.scheme) && is_silent(u.user) && is_silent(u.host) && is_silent(u.path));
    for (const net::endpoint& each : u.others) demand(is_silent(each.host));
    for (const auto& [name, value] : u.options) demand(is_silent(name) && is_silent(value));
    for (const char* file : {"password_file", "sentinel_password_file"}) {
      if (u.options.contains(file)) return;  // it would be read as a file
    }
  } catch (const net::bad_url& e) {
    demand(is_silent(e.what()));
  }
  try {
    demand(is_silent(redis::settings::parse(url).where()));
  } catch (const storage::failure& f) {
    demand(is_silent(f.text));
  }
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string scheme = around(line(bytes)), user = around(line(bytes)), secret = password(line(bytes));
  const std::string rest = around(line(bytes));
  const std::string url = scheme + "://" + user + ":" + secret + "@" + rest;
  const std::string no_url = scheme + ":" + user + ":" + secret + "@" + rest;
  for (const std::string& each : {url, no_url}) {
    test::demand(is_silent(net::without_secrets(each)));
    test::demand(is_silent(redis::settings::shown(each)));
  }
  check_words_about(url);
  (void)redis::settings::shown(rest);
  check_words_about(rest);
  return 0;
}
