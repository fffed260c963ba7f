#include "redis/lock/list_position.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

bool is_cursor(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 20 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<list_position> list_position::read(std::string_view text, const std::vector<std::string>& parts) {
  list_position p(parts);
  if (text.empty()) return p;
  const bool named = !parts.front().empty();
  bool restarts = false;
  p.next_ = parts.size();
  for (std::size_t begin = 0; begin <= text.size();) {
    const bool first = begin == 0;
    const std::string_view piece = text.substr(begin, std::min(text.find(';', begin), text.size()) - begin);
    begin += piece.size() + 1;
    if (first && piece.empty() && named) continue;  // only postponed parts are left
    const std::size_t at = std::min(piece.find('@'), piece.size());
    const std::string_view cursor = piece.substr(0, at), part = piece.substr(std::min(at + 1, piece.size()));
    if (!is_cursor(cursor) || named != (at < piece.size()) || (!named && !first)) return std::nullopt;
    const auto found = std::ranges::lower_bound(parts, part);
    const bool is_there = found != parts.end() && *found == part;
    if (first) {
      p.next_ = static_cast<std::size_t>(found - parts.begin());
      if (is_there) p.cursor_ = cursor;
    } else {
      restarts = restarts || !is_there;
      p.put_off_.push_back({std::string(part), std::string(cursor)});
    }
  }
  return restarts ? list_position(parts) : p;
}

void list_position::go_to(const std::string& cursor) {
  std::string& here = at_first_round() ? cursor_ : put_off_[0].cursor;
  here = cursor;
  if (cursor != "0") return;
  if (at_first_round()) {
    ++next_;
  } else {
    put_off_.erase(put_off_.begin());
  }
}

bool list_position::put_off() {
  if (!at_first_round() || parts_.size() == 1) return false;
  put_off_.push_back({parts_[next_], std::exchange(cursor_, "0")});
  ++next_;
  return true;
}

std::string list_position::write() const {
  std::string text;
  if (at_first_round()) text = parts_[next_].empty() ? cursor_ : cursor_ + "@" + parts_[next_];
  for (const place& each : put_off_) text.append(";").append(each.cursor).append("@").append(each.part);
  return text;
}

}  // namespace holdfast::redis
