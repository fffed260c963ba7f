#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <holdfast/listing.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::cli {

struct key {
  enum class kind { text, up, down, page_up, page_down, home, end, enter, escape, backspace };
  kind what;
  std::string text{};  ///< one character, for kind::text
};

/// Converts terminal input to keys. A key may arrive in parts; unknown sequences are ignored.
class key_reader {
 public:
  [[nodiscard]] std::vector<key> take(std::string_view bytes);
  /// True if the input so far is the beginning of a key. It may also be complete: the escape key sends the first byte
  /// of other keys.
  [[nodiscard]] bool is_waiting() const noexcept { return !rest_.empty(); }
  /// Call when no more input follows in time.
  [[nodiscard]] std::vector<key> give_up();

 private:
  std::string rest_;
};

/// An operation on a lock that the user has confirmed.
struct top_request {
  enum class kind { revoke, break_lock };
  kind what;
  std::string name;
  state::holder from;  ///< for break_lock: the holder that was displayed
  std::string reason;
};

/// The state of top: the names, their order, the selection, and the current dialog. Independent of terminal and store.
class top_model {
 public:
  using time = std::chrono::system_clock::time_point;
  enum class order { waiters, wait, age, name };
  enum class view { list, details, search, reason, question };

  // ---- from the store -----------------------------------------------------------------------------------------------
  void set_names(std::vector<listing::entry>, time now);
  /// Ignored if `name` is not details_of() any more.
  void set_details(const std::string& name, state);
  void set_trouble(std::string why) { trouble_ = std::move(why); }   ///< empty: the store answers
  void tell(std::string message) { message_ = std::move(message); }  ///< shown until the next key

  // ---- from the user ------------------------------------------------------------------------------------------------
  [[nodiscard]] std::optional<top_request> press(const key&);
  void set_page(std::size_t rows) noexcept { page_ = rows; }  ///< how many names fit on the screen

  // ---- to the screen ------------------------------------------------------------------------------------------------
  [[nodiscard]] bool over() const noexcept { return over_; }
  [[nodiscard]] view now() const noexcept { return view_; }
  [[nodiscard]] order by() const noexcept { return order_; }
  [[nodiscard]] const std::string& search() const noexcept { return search_; }
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::vector<listing::entry>& names() const noexcept { return names_; }  ///< in display order
  [[nodiscard]] const std::vector<std::size_t>& found() const noexcept { return found_; }     ///< matches of the search
  [[nodiscard]] std::size_t selected() const noexcept { return selected_; }                   ///< index into found()
  /// The current question and the input so far; empty if there is none.
  [[nodiscard]] std::string prompt() const;
  [[nodiscard]] const std::string& details_of() const noexcept { return details_of_; }  ///< empty: no details
  [[nodiscard]] const std::optional<state>& details() const noexcept { return details_; }
  [[nodiscard]] std::size_t scrolled() const noexcept { return scrolled_; }  ///< first visible line of the details

 private:
  void sort(time now);
  void search_again();
  void select(std::size_t);
  void move(const key&);
  void press_in_list(const key&);
  void press_in_details(const key&);
  void press_in_search(const key&);
  void press_in_reason(const key&);
  [[nodiscard]] std::optional<top_request> answer(const key&);
  void choose(const std::string& letter);
  void begin_request(top_request::kind);
  [[nodiscard]] const state* seen(const std::string& name) const;
  void open_details();
  void go_back() noexcept { view_ = details_of_.empty() ? view::list : view::details; }

  view view_ = view::list;
  order order_ = order::waiters;
  std::vector<listing::entry> names_;
  std::vector<std::size_t> found_;
  std::size_t selected_ = 0, page_ = 1, scrolled_ = 0;
  std::string selected_name_, search_, trouble_, message_, details_of_;
  std::optional<state> details_;
  std::optional<top_request> wanted_;
  time last_{};  // when the names were read
  bool over_ = false;
};

}  // namespace holdfast::cli
