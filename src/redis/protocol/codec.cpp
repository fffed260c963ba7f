#include "redis/protocol/codec.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::redis {

namespace {

std::int64_t number_in(std::string_view text) {
  std::int64_t n = 0;
  if (text.starts_with("+-")) throw malformed("a number with two signs");
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw malformed("a number was expected");
  }
  return n;
}

value made(value::kind what, std::string_view text) {
  value v;
  v.what = what;
  v.text = text;
  return v;
}

value made(std::int64_t number) {
  value v;
  v.what = value::kind::integer;
  v.number = number;
  return v;
}

}  // namespace

std::optional<value> decoder::next() {
  if (broken_) throw malformed("the connection is out of step");
  try {
    std::optional<value> whole;
    while (!whole && step(whole)) {
    }
    if (whole) {
      forget_what_was_read();
      begun_ = read_;
      items_ = 0;
    }
    return whole;
  } catch (const malformed&) {
    broken_ = true;
    throw;
  }
}

/// Moves what is left to the front when more than half of the buffer was read: so the work is linear, however much is
/// in it.
void decoder::forget_what_was_read() {
  if (read_ == bytes_.size()) {
    bytes_.clear();
  } else if (read_ > 4096 && read_ > bytes_.size() / 2) {
    moved_ += bytes_.size() - read_;
    bytes_.erase(0, read_);
  } else {
    return;
  }
  scanned_ = scanned_ > read_ ? scanned_ - read_ : 0;
  read_ = 0;
}

std::optional<std::string_view> decoder::line() {
  scanned_ = std::max(scanned_, read_);
  const std::size_t end = bytes_.find('\n', scanned_);
  scanned_ = std::min(end, bytes_.size());
  if (scanned_ - read_ > longest_text) throw malformed("a line has no end");  // whether we see it or not
  if (end == std::string::npos) return std::nullopt;
  if (end == read_ || bytes_[end - 1] != '\r') throw malformed("a line does not end as it should");
  const std::string_view text = std::string_view(bytes_).substr(read_, end - 1 - read_);
  read_ = end + 1;
  return text;
}

bool decoder::step(std::optional<value>& whole) {
  if (read_ - begun_ > most_bytes) throw malformed("a reply of too many bytes");
  if (text_due_) {
    if (bytes_.size() - read_ < *text_due_ + 2) return false;
    std::string_view text = std::string_view(bytes_).substr(read_, *text_due_);
    if (bytes_.compare(read_ + *text_due_, 2, "\r\n") != 0) throw malformed("a text does not end as it should");
    read_ += *text_due_ + 2;
    text_due_.reset();
    if (std::exchange(verbatim_, false)) {
      if (text.size() < 4 || text[3] != ':') throw malformed("a verbatim text without its kind");
      text.remove_prefix(4);
    }
    close(made(text_is_, text), whole);
    return true;
  }
  const std::optional<std::string_view> header = line();
  if (!header) return false;
  if (header->empty()) throw malformed("an empty line");
  return begin(header->front(), header->substr(1), whole);
}

bool decoder::begin(char type, std::string_view rest, std::optional<value>& whole) {
  if (++items_ > most_items) throw malformed("a reply of too many parts");
  switch (type) {
    case '+': close(made(value::kind::text, rest), whole); return true;
    case '-': close(made(value::kind::error, rest), whole); return true;
    case ':': close(made(number_in(rest)), whole); return true;
    case ',':
    case '(': close(made(value::kind::text, rest), whole); return true;
    case '_':
      if (!rest.empty()) throw malformed("a null with something in it");
      close(value(), whole);
      return true;
    case '#':
      if (rest != "t" && rest != "f") throw malformed("neither true nor false");
      close(made(rest == "t" ? 1 : 0), whole);
      return true;
    case '$':
    case '=':
    case '!': {
      const std::int64_t size = number_in(rest);
      if (size == -1 && type == '$') {
        close(value(), whole);
        return true;
      }
      if (size < 0 || static_cast<std::size_t>(size) > longest_text) throw malformed("a text of such a size");
      text_due_ = static_cast<std::size_t>(size);
      text_is_ = type == '!' ? value::kind::error : value::kind::text;
      verbatim_ = type == '=';
      return true;
    }
    case '*':
    case '~': begin_list(value::kind::list, number_in(rest), false, whole); return true;
    case '>': begin_list(value::kind::push, number_in(rest), false, whole); return true;
    case '%':
    case '|': {
      const std::int64_t pairs = number_in(rest);
      if (pairs < 0 || pairs > static_cast<std::int64_t>(most_items)) throw malformed("a map of such a size");
      begin_list(value::kind::list, pairs * 2, type == '|', whole);
      return true;
    }
    default: throw malformed("an unknown type");
  }
}

void decoder::begin_list(value::kind what, std::int64_t count, bool dropped, std::optional<value>& whole) {
  if (count == -1 && what == value::kind::list && !dropped) return close(value(), whole);
  if (count < 0 || count > static_cast<std::int64_t>(most_items)) throw malformed("a list of such a size");
  if (open_.size() >= deepest) throw malformed("lists too deep in one another");
  open_list l{{}, static_cast<std::size_t>(count), dropped};
  l.list.what = what;
  if (count != 0) {
    open_.push_back(std::move(l));
  } else if (!dropped) {
    close(std::move(l.list), whole);
  }
}

/// A value is complete; so may be the lists that it ends.
void decoder::close(value v, std::optional<value>& whole) {
  for (;;) {
    if (open_.empty()) {
      whole = std::move(v);
      return;
    }
    open_list& in = open_.back();
    if (!in.dropped) in.list.items.push_back(std::move(v));
    if (--in.due != 0) return;
    v = std::move(in.list);
    const bool dropped = in.dropped;
    open_.pop_back();
    if (dropped) return;  // what it belongs to comes next, and counts for both
  }
}

void command::header(char type, std::size_t n) {
  char text[24];
  const auto [end, error] = std::to_chars(text, text + sizeof text, n);
  bytes_.push_back(type);
  bytes_.append(text, end).append("\r\n");
}

command& command::add(std::string_view word) {
  header('$', word.size());
  if (key_follows_) {
    key_follows_ = false;
    key_at_ = bytes_.size();
    key_size_ = word.size();
  }
  bytes_.append(word).append("\r\n");
  return *this;
}

command& command::add(std::int64_t number) {
  char text[24];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  return add(std::string_view(text, static_cast<std::size_t>(end - text)));
}

command& command::then(const command& next) {
  last_at_ = bytes_.size() + next.last_at_;
  key_at_ = bytes_.size() + next.key_at_;
  key_size_ = next.key_size_;
  time_behind_ = next.time_behind_;
  bytes_.append(next.bytes_);
  replies_ += next.replies_;
  wanted_ = next.wanted_;
  return *this;
}

command& command::along_with(const command& next) {
  bytes_.append(next.bytes_);
  replies_ += next.replies_;
  wanted_ += next.wanted_;
  return *this;
}

command command::with_before_last(const command& before) const {
  command all = *this;
  all.bytes_.insert(last_at_, before.bytes_);
  all.last_at_ += before.bytes_.size();
  all.key_at_ += before.bytes_.size();
  all.replies_ += before.replies_;
  return all;
}

}  // namespace holdfast::redis
