#include "top/model.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "admin/admin.hpp"
#include "text/state.hpp"
#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

using key_kind = key::kind;

/// Maps what follows ESC [ or ESC O to a key.
std::optional<key> special(std::string_view code) {
  struct known {
    std::string_view code;
    key_kind what;
  };
  constexpr known all[] = {{"A", key_kind::up},         {"B", key_kind::down}, {"5~", key_kind::page_up},
                           {"6~", key_kind::page_down}, {"H", key_kind::home}, {"1~", key_kind::home},
                           {"7~", key_kind::home},      {"F", key_kind::end},  {"4~", key_kind::end},
                           {"8~", key_kind::end}};
  for (const known& each : all) {
    if (each.code == code) return key{each.what};
  }
  return std::nullopt;
}

/// Returns the length of the escape sequence at the beginning of the text, or 0 if it is incomplete.
std::size_t length_of_code(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != '[' && text[1] != 'O') return 1;
  for (std::size_t at = 2; at < text.size(); ++at) {
    if (text[at] >= '@' && text[at] <= '~') return at + 1;
  }
  return 0;
}

std::optional<key> plain(const character& c, std::string_view bytes) {
  if (c.code == '\r' || c.code == '\n') return key{key_kind::enter};
  if (c.code == 0x7f || c.code == '\b') return key{key_kind::backspace};
  if (!c.valid || c.code < ' ') return std::nullopt;
  return key{key_kind::text, std::string(bytes)};
}

/// Returns whether the text begins with an incomplete character.
bool is_cut(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t whole = first > 0xf4 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  return text.size() < whole;
}

}  // namespace

std::vector<key> key_reader::take(std::string_view bytes) {
  rest_ += bytes;
  std::string_view text = rest_;
  std::vector<key> keys;
  while (!text.empty()) {
    std::optional<key> found;
    std::size_t length = 0;
    if (text.front() == '\x1b') {
      length = length_of_code(text);
      if (length == 0) break;
      found = length == 1 ? key{key_kind::escape} : special(text.substr(2, length - 2));
    } else {
      if (is_cut(text)) break;
      const character c = first_character(text);
      length = c.bytes;
      found = plain(c, text.substr(0, length));
    }
    if (found) keys.push_back(std::move(*found));
    text.remove_prefix(length);
  }
  rest_ = std::string(text);
  return keys;
}

std::vector<key> key_reader::give_up() {
  const std::string left = std::exchange(rest_, {});
  if (left == "\x1b") return {key{key_kind::escape}};
  return {};
}

namespace {

constexpr std::size_t longest_reason = 256;  // the limit of store::revoke()

std::string in_small_letters(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

void erase_last(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

bool is_letter(const key& k, std::string_view letter) { return k.what == key_kind::text && k.text == letter; }

}  // namespace

// ---- from the store -----------------------------------------------------------------------------------------------

void top_model::set_names(std::vector<listing::entry> names, time now) {
  names_ = std::move(names);
  sort(now);
}

void top_model::set_details(const std::string& name, state s) {
  if (name == details_of_) details_ = std::move(s);
}

void top_model::sort(time now) {
  last_ = now;
  const auto age = [&](const listing::entry& e) {
    return held_for(e.now, now).value_or(std::chrono::milliseconds(-1));
  };
  const auto first_by = [&](const listing::entry& e) -> std::int64_t {
    if (order_ == order::waiters) return static_cast<std::int64_t>(e.now.waiting);
    return order_ == order::wait ? waited_for(e.now, now).value_or(std::chrono::milliseconds(-1)).count() : 0;
  };
  const auto earlier = [&](const listing::entry& a, const listing::entry& b) {
    if (order_ == order::name) return a.name < b.name;
    return std::tuple(first_by(b), age(b), std::string_view(a.name)) <
           std::tuple(first_by(a), age(a), std::string_view(b.name));
  };
  std::sort(names_.begin(), names_.end(), earlier);
  search_again();
}

/// The selection follows its name. If the name is gone, the position stays.
void top_model::search_again() {
  const std::string wanted = in_small_letters(search_);
  std::size_t at = selected_;
  found_.clear();
  for (std::size_t n = 0; n < names_.size(); ++n) {
    const std::string& name = names_[n].name;
    if (!wanted.empty() && in_small_letters(printable(name)).find(wanted) == std::string::npos) continue;
    if (name == selected_name_) at = found_.size();
    found_.push_back(n);
  }
  select(at);
}

void top_model::select(std::size_t at) {
  selected_ = found_.empty() ? 0 : std::min(at, found_.size() - 1);
  if (!found_.empty()) selected_name_ = names_[found_[selected_]].name;
}

// ---- from the user ------------------------------------------------------------------------------------------------

std::optional<top_request> top_model::press(const key& k) {
  message_.clear();
  switch (view_) {
    case view::list: press_in_list(k); break;
    case view::details: press_in_details(k); break;
    case view::search: press_in_search(k); break;
    case view::reason: press_in_reason(k); break;
    case view::question: return answer(k);
  }
  return std::nullopt;
}

void top_model::press_in_list(const key& k) {
  if (k.what == key_kind::enter) return open_details();
  if (k.what == key_kind::text) return choose(k.text);
  if (k.what == key_kind::escape) {
    search_.clear();
    return search_again();
  }
  move(k);
}

void top_model::choose(const std::string& letter) {
  if (letter == "q") over_ = true;
  if (letter == "/") view_ = view::search;
  if (letter == "j") move({key_kind::down});
  if (letter == "k") move({key_kind::up});
  if (letter == "r") begin_request(top_request::kind::revoke);
  if (letter == "b") begin_request(top_request::kind::break_lock);
  constexpr std::pair<std::string_view, order> orders[] = {
      {"w", order::waiters}, {"t", order::wait}, {"a", order::age}, {"n", order::name}};
  for (const auto& [key, by] : orders) {
    if (letter != key) continue;
    order_ = by;
    sort(last_);
  }
}

void top_model::move(const key& k) {
  const std::size_t page = std::max<std::size_t>(page_, 1);
  if (k.what == key_kind::up) select(selected_ - std::min<std::size_t>(selected_, 1));
  if (k.what == key_kind::down) select(selected_ + 1);
  if (k.what == key_kind::page_up) select(selected_ - std::min(selected_, page));
  if (k.what == key_kind::page_down) select(selected_ + page);
  if (k.what == key_kind::home) select(0);
  if (k.what == key_kind::end) select(found_.size());
}

void top_model::open_details() {
  if (found_.empty()) return;
  details_of_ = selected_name_;
  details_.reset();
  scrolled_ = 0;
  view_ = view::details;
}

void top_model::press_in_details(const key& k) {
  const bool back = k.what == key_kind::escape || k.what == key_kind::enter || k.what == key_kind::backspace;
  if (back) {
    details_of_.clear();
    view_ = view::list;
  } else if (is_letter(k, "q") || is_letter(k, "r") || is_letter(k, "b")) {
    choose(k.text);
  } else if (k.what == key_kind::down || is_letter(k, "j")) {
    ++scrolled_;
  } else if (k.what == key_kind::up || is_letter(k, "k")) {
    scrolled_ -= std::min<std::size_t>(scrolled_, 1);
  } else if (k.what == key_kind::home) {
    scrolled_ = 0;
  }
}

void top_model::press_in_search(const key& k) {
  if (k.what == key_kind::enter || k.what == key_kind::escape) view_ = view::list;
  if (k.what == key_kind::escape) search_.clear();
  if (k.what == key_kind::backspace && search_.empty()) view_ = view::list;
  if (k.what == key_kind::backspace) erase_last(search_);
  if (k.what == key_kind::text) search_ += k.text;
  search_again();
  if (k.what == key_kind::up || k.what == key_kind::down) move(k);
}

const state* top_model::seen(const std::string& name) const {
  if (view_ == view::details && details_) return &*details_;
  const auto at = std::find_if(names_.begin(), names_.end(), [&](const listing::entry& e) { return e.name == name; });
  return at != names_.end() ? &at->now : nullptr;
}

/// The request names the holder that the user sees, so that it cannot affect a later one.
void top_model::begin_request(top_request::kind what) {
  const std::string& name = view_ == view::details ? details_of_ : selected_name_;
  const state* const now = seen(name);
  if (now == nullptr || now->holders.empty()) return tell("it is not held");
  if (what == top_request::kind::break_lock && now->holding > 1) {
    return tell("it has several holders; name one: holdfast break NAME --owner ID");
  }
  wanted_ = top_request{what, name, now->holders.front(), {}};
  view_ = view::reason;
}

void top_model::press_in_reason(const key& k) {
  if (k.what == key_kind::escape) return go_back();
  if (k.what == key_kind::enter) view_ = view::question;
  if (k.what == key_kind::backspace) erase_last(wanted_->reason);
  if (k.what == key_kind::text && wanted_->reason.size() + k.text.size() <= longest_reason) wanted_->reason += k.text;
}

std::optional<top_request> top_model::answer(const key& k) {
  const bool yes = is_letter(k, "y"), no = is_letter(k, "n") || k.what == key_kind::escape;
  if (!yes && !no) return std::nullopt;
  go_back();
  if (no) tell("nothing is done");
  return yes ? std::exchange(wanted_, std::nullopt) : std::nullopt;
}

// ---- to the screen ------------------------------------------------------------------------------------------------

std::string top_model::prompt() const {
  if (view_ == view::search) return "/" + printable(search_) + "_";
  if (view_ != view::reason && view_ != view::question) return {};
  const bool asks = wanted_->what == top_request::kind::revoke;
  const std::string name = printable(wanted_->name);
  if (view_ == view::reason) {
    return (asks ? "reason to ask for " : "reason to break ") + name + ": " + printable(wanted_->reason) + "_";
  }
  if (asks) return "ask who holds " + name + " to let go? y/n";
  return "UNSAFE without fences: take " + name + " by force from " + to_text({wanted_->from}) + "? y/n";
}

}  // namespace holdfast::cli
