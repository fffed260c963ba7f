#pragma once
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/value.hpp"

namespace holdfast::redis {

/// The server broke the protocol, or went over the bounds of the decoder: what follows on that connection means
/// nothing.
class malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bytes to values: RESP2 and RESP3, in pieces of any size. No I/O.
class decoder {
 public:
  static constexpr std::size_t deepest = 8;             ///< lists in lists
  static constexpr std::size_t most_items = 1 << 16;    ///< of one reply, in all its lists
  static constexpr std::size_t longest_text = 1 << 20;  ///< of one text
  static constexpr std::size_t most_bytes = 1 << 22;    ///< of one reply

  void feed(std::string_view bytes) { bytes_.append(bytes); }
  /// The next value; nothing: more bytes are needed. Throws malformed, and then for ever.
  [[nodiscard]] std::optional<value> next();
  /// How many bytes were moved to the front of the buffer so far; at most as many as were fed.
  [[nodiscard]] std::size_t moved() const noexcept { return moved_; }

 private:
  struct open_list {
    value list;
    std::size_t due;
    bool dropped;  // an attribute: it is read and forgotten
  };
  [[nodiscard]] std::optional<std::string_view> line();
  [[nodiscard]] bool step(std::optional<value>& whole);  // false: more bytes are needed
  [[nodiscard]] bool begin(char type, std::string_view rest, std::optional<value>& whole);
  void begin_list(value::kind, std::int64_t count, bool dropped, std::optional<value>& whole);
  void close(value, std::optional<value>& whole);
  void forget_what_was_read();

  std::string bytes_;
  std::size_t read_ = 0;     // of bytes_
  std::size_t scanned_ = 0;  // of bytes_, for the end of a line
  std::size_t begun_ = 0;    // where in bytes_ the reply begins that is being read
  std::size_t items_ = 0;    // of that reply
  std::size_t moved_ = 0;
  std::optional<std::size_t> text_due_;
  value::kind text_is_ = value::kind::text;
  bool verbatim_ = false;
  std::vector<open_list> open_;
  bool broken_ = false;
};

/// Values to bytes: a command is an array of texts. Several may go together: then the reply to the last is what counts,
/// or those to the last ones, if they are wanted along with it.
class command {
 public:
  /// A command of so many words.
  explicit command(std::size_t words) {
    bytes_.reserve(words * 32);
    header('*', words);
  }
  command& add(std::string_view word);
  command& add(std::int64_t number);
  /// The next word is a key. A cluster sends a command to where its key is: the first of the last part.
  command& key_follows() noexcept {
    key_follows_ = true;
    return *this;
  }
  /// If the reply to it is a list, so many items of it stand before the server's time, in us.
  command& tells_time_behind(std::size_t items) noexcept {
    time_behind_ = items;
    return *this;
  }
  command& then(const command& next);
  command& along_with(const command& next);  ///< the reply to what was the last is wanted, too
  /// The same, with this before the last part, and before what goes along with it.
  [[nodiscard]] command with_before_last(const command&) const;
  [[nodiscard]] std::string_view key() const noexcept {  ///< empty: there is none
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
  std::size_t last_at_ = 0;  // where in bytes_ the last part begins
  std::size_t key_at_ = 0, key_size_ = 0;
  bool key_follows_ = false;
  std::optional<std::size_t> time_behind_;
};

}  // namespace holdfast::redis
