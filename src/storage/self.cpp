#include "storage/self.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>

namespace holdfast::storage {

namespace {

std::string user() {
  const uid_t id = ::geteuid();
  std::array<char, 4096> room{};
  passwd is{};
  passwd* found = nullptr;
  const bool known = ::getpwuid_r(id, &is, room.data(), room.size(), &found) == 0 && found != nullptr;
  return known ? std::string(is.pw_name) : "uid " + std::to_string(id);
}

}  // namespace

std::string who_we_are() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return user() + "@" + host + " pid " + std::to_string(::getpid());
}

}  // namespace holdfast::storage
