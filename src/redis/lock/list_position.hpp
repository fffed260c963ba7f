#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Where a list goes on: it goes from part to part, and comes back in the end to those that gave no answer. Written
/// down between two pages as `<cursor>@<part>` and, behind each `;`, the same of what was put off; of one server, which
/// is one part without a name, there is only the cursor.
class list_position {
 public:
  /// At the beginning. `parts` is never empty, in order, and outlives it.
  explicit list_position(const std::vector<std::string>& parts) noexcept : parts_(parts) {}
  /// Nothing: nobody has written that. A part that is gone is passed over; if it was put off, all begins anew, since
  /// what lay there is somewhere else now.
  [[nodiscard]] static std::optional<list_position> read(std::string_view text, const std::vector<std::string>& parts);

  [[nodiscard]] bool is_over() const noexcept { return next_ >= parts_.size() && put_off_.empty(); }
  // Unless it is over:
  [[nodiscard]] const std::string& part() const noexcept { return at_first_round() ? parts_[next_] : put_off_[0].part; }
  [[nodiscard]] const std::string& cursor() const noexcept { return at_first_round() ? cursor_ : put_off_[0].cursor; }
  /// As the part has said; "0": it has no more.
  void go_to(const std::string& cursor);
  /// It gives no answer: the others first. False: all others are done, or there are none.
  [[nodiscard]] bool put_off();

  /// Only parts that were put off are left, and others were not.
  [[nodiscard]] bool others_are_listed() const noexcept { return !at_first_round() && put_off_.size() < parts_.size(); }

  /// Empty: there is no more.
  [[nodiscard]] std::string write() const;

 private:
  struct place {
    std::string part, cursor;
  };
  [[nodiscard]] bool at_first_round() const noexcept { return next_ < parts_.size(); }
  const std::vector<std::string>& parts_;
  std::size_t next_ = 0;
  std::string cursor_ = "0";
  std::vector<place> put_off_;
};

/// What a server says where a SCAN goes on.
[[nodiscard]] bool is_cursor(std::string_view) noexcept;

}  // namespace holdfast::redis
