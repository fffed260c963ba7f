// Any arguments are parsed safely: they are rejected with exit code 64 and a message, print help, or run a command. No
// output repeats the password of a URL.
#include "arguments.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "exit_code.hpp"
#include "fuzz/demand.hpp"

namespace holdfast {
namespace {

using test::demand;

/// One argument per line. A byte 1 stands for a URL with a password of QZ, which occurs nowhere else.
std::vector<std::string> arguments_in(std::string_view bytes) {
  std::vector<std::string> all{"holdfast", ""};
  for (const char c : bytes) {
    if (c == '\n') {
      all.emplace_back();
    } else if (c == '\1') {
      all.back() += "redis://me:QZ'QZ QZ@host";
    } else if (c != '\0') {
      all.back() += c == 'Q' || c == 'Z' ? 'q' : c;
    }
  }
  if (all.back().empty()) all.pop_back();
  return all;
}

bool help_arguments(const std::vector<std::string>& arguments) {
  for (const std::string& a : arguments) {
    if (a.starts_with("-")) return true;  // -h, --help, --version, or several letters together
  }
  return false;
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  [[maybe_unused]] static const int not_ours = ::unsetenv("HOLDFAST_STORE");
  const auto arguments = arguments_in({reinterpret_cast<const char*>(data), size});
  std::vector<const char*> words;
  for (const std::string& a : arguments) words.push_back(a.c_str());
  words.push_back(nullptr);
  const cli::parsed_arguments got = cli::read_arguments(static_cast<int>(words.size()) - 1, words.data());
  if (got.act) {
    demand(got.code == 0 && got.text.empty() && arguments.size() > 1);
    return 0;
  }
  demand(got.text.ends_with('\n'));
  demand(got.text.find("QZ") == std::string::npos);
  if (got.code == cli::fine) {
    demand(help_arguments(arguments));
  } else {
    demand(got.code == cli::usage && got.text.starts_with("holdfast: "));
  }
  return 0;
}
