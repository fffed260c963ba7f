#pragma once
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

/// What a test and a client in another process say to each other: one packet a message, over a SOCK_SEQPACKET pair.
namespace holdfast::conformance {

enum class order : std::uint8_t { open, poll, wakeup, renew, release, close, cut };

struct order_message {
  order what{};
  std::uint64_t claim = 0;
  std::uint64_t call = 0;  ///< of this order, or for cut: of the one that is to end
  std::int64_t until = 0;  ///< on the boot clock, in nanoseconds
  std::int64_t ttl = 0;    ///< in milliseconds
  std::uint64_t owner[2]{};
  bool fixed = false;
  bool queue = true;
  std::uint16_t name = 0;  ///< bytes of the text that are the name; the rest is the label
};

enum class reply : std::uint8_t { yes, no, unknown, woken };

struct reply_message {
  reply what{};
  std::uint64_t call = 0;
  std::uint64_t fence = 0;
  std::uint64_t fences = 0;
  std::int64_t until = 0;
  int code = 0;  ///< an errc, or a runtime::wake
};

template <class Message>
bool send(int socket, const Message& message, const std::string& text = {}) {
  static_assert(std::is_trivially_copyable_v<Message>);
  std::string packet(sizeof message, '\0');
  std::memcpy(packet.data(), &message, sizeof message);
  packet += text;
  return ::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size());
}

/// Nothing: the other side is gone.
template <class Message>
std::optional<Message> receive(int socket, std::string& text) {
  std::string packet(64 * 1024, '\0');
  ssize_t n = 0;
  do n = ::recv(socket, packet.data(), packet.size(), 0);
  while (n < 0 && errno == EINTR);
  if (n < static_cast<ssize_t>(sizeof(Message))) return std::nullopt;
  Message message;
  std::memcpy(&message, packet.data(), sizeof message);
  text.assign(packet, sizeof message, static_cast<std::size_t>(n) - sizeof message);
  return message;
}

}  // namespace holdfast::conformance
