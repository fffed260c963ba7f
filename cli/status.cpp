#include "status.hpp"

#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

namespace holdfast::cli {

void status::tell(std::string_view what, std::initializer_list<field> more) const {
  if (fd_ < 0) return;
  using clock = std::chrono::system_clock;
  nlohmann::ordered_json line;
  line["event"] = what;
  line["time"] = std::chrono::duration<double>(clock::now().time_since_epoch()).count();
  for (const field& f : more) {
    std::visit([&](const auto& value) { line[std::string(f.name)] = value; }, f.value);
  }
  // Names are bytes: what is no UTF-8 is shown as such.
  const std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd_, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

}  // namespace holdfast::cli
