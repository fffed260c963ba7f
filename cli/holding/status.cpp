#include "holding/status.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "process/descriptor.hpp"

namespace holdfast::cli {

namespace {

using json = nlohmann::ordered_json;

void put(json& into, const status::numbers& all) {
  into = json::object();
  for (const auto& [name, number] : all) into[name] = number;
}

template <class Value>
void put(json& into, const Value& value) {
  into = value;
}

}  // namespace

status::status(int fd) noexcept : fd_(fd) {
  if (fd > STDERR_FILENO) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::string status::line(std::string_view what, std::initializer_list<field> more) {
  using clock = std::chrono::system_clock;
  json line;
  line["event"] = what;
  line["time"] = std::chrono::duration<double>(clock::now().time_since_epoch()).count();
  for (const field& f : more) {
    std::visit([&](const auto& value) { put(line[std::string(f.name)], value); }, f.value);
  }
  // Names are bytes: what is no UTF-8 is shown as such.
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

void status::tell(std::string_view what, std::initializer_list<field> more) const {
  if (fd_ >= 0) write_while_read(fd_, line(what, more));
}

}  // namespace holdfast::cli
