#pragma once
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/value.hpp"

namespace holdfast::redis {

/// The server violated the protocol or exceeded a bound of the decoder. The connection cannot be used any more.
class malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Decodes RESP2 and RESP3 from pieces of any size. No I/O.
class decoder {
 public:
  static constexpr std::size_t deepest = 8;             ///< nested lists
  static constexpr std::size_t most_items = 1 << 16;    ///< in all lists of one reply
  static constexpr std::size_t longest_text = 1 << 20;  ///< bytes of one text
  static constexpr std::size_t most_bytes = 1 << 22;    ///< bytes of one reply

  void feed(std::string_view bytes) { bytes_.append(bytes); }
  /// Returns the next value, or nothing if more bytes are needed. Throws malformed, as does every later call.
  [[nodiscard]] std::optional<value> next();
  /// The number of bytes that were moved to the front of the buffer so far. It never exceeds the number of bytes fed.
  [[nodiscard]] std::size_t moved() const noexcept { return moved_; }

 private:
  struct open_list {
    value list;
    std::size_t due;
    bool dropped;  // an attribute, which is read and dropped
  };
  [[nodiscard]] std::optional<std::string_view> line();
  [[nodiscard]] bool step(std::optional<value>& whole);  // false if more bytes are needed
  [[nodiscard]] bool begin(char type, std::string_view rest, std::optional<value>& whole);
  void begin_list(value::kind, std::int64_t count, bool dropped, std::optional<value>& whole);
  void close(value, std::optional<value>& whole);
  void forget_what_was_read();

  std::string bytes_;
  std::size_t read_ = 0;     // position in bytes_
  std::size_t scanned_ = 0;  // position in bytes_ up to which no end of a line was found
  std::size_t begun_ = 0;    // where the current reply begins in bytes_
  std::size_t items_ = 0;    // in that reply
  std::size_t moved_ = 0;
  std::optional<std::size_t> text_due_;
  value::kind text_is_ = value::kind::text;
  bool verbatim_ = false;
  std::vector<open_list> open_;
  bool broken_ = false;
};

/// Encodes a command as an array of texts. Several commands can be sent together. Then only the reply to the last one
/// counts, or those to the last ones that were added by along_with().
class command {
 public:
  /// A command with this number of words.
  explicit command(std::size_t words) {
    bytes_.reserve(words * 32);
    header('*', words);
  }
  command& add(std::string_view word);
  command& add(std::int64_t number);
  /// Marks the next word as the key by which a cluster routes the command. The last part decides.
  command& key_follows() noexcept {
    key_follows_ = true;
    return *this;
  }
  /// If the reply is a list, the server's time in us follows this number of items.
  command& tells_time_behind(std::size_t items) noexcept {
    time_behind_ = items;
    return *this;
  }
  command& then(const command& next);
  command& along_with(const command& next);  ///< the previous replies count as well
  /// Returns a copy with `before` inserted before the last part and what goes along with it.
  [[nodiscard]] command with_before_last(const command&) const;
  [[nodiscard]] std::string_view key() const noexcept {  ///< empty if there is none
    return std::string_view(bytes_).substr(key_at_, key_size_);
  }
  [[nodiscard]] std::optional<std::size_t> time_behind() const noexcept { return time_behind_; }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t replies() const noexcept { return replies_; }
  [[nodiscard]] std::size_t wanted() const noexcept { return wanted_; }  ///< how many of the last replies count

 private:
  void header(char type, std::size_t n);
  std::string bytes_;
  std::size_t replies_ = 1;
  std::size_t wanted_ = 1;
  std::size_t last_at_ = 0;  // where the last part begins in bytes_
  std::size_t key_at_ = 0, key_size_ = 0;
  bool key_follows_ = false;
  std::optional<std::size_t> time_behind_;
};

}  // namespace holdfast::redis
