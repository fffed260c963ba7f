#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// The position of a listing between two pages. The listing goes from part to part and returns at the end to those that
/// did not reply. As text it is `<cursor>@<part>`, followed by `;<cursor>@<part>` for each postponed part. With a
/// single server, which has no name, it is only the cursor.
class list_position {
 public:
  /// The first position. `parts` is sorted, not empty, and outlives the position.
  explicit list_position(const std::vector<std::string>& parts) noexcept : parts_(parts) {}
  /// Returns nothing if the text is malformed. A part that has been removed is skipped. If it was postponed the listing
  /// starts again, because its keys are in other parts now.
  [[nodiscard]] static std::optional<list_position> read(std::string_view text, const std::vector<std::string>& parts);

  [[nodiscard]] bool is_over() const noexcept { return next_ >= parts_.size() && put_off_.empty(); }
  // These must not be called at the end of the listing:
  [[nodiscard]] const std::string& part() const noexcept { return at_first_round() ? parts_[next_] : put_off_[0].part; }
  [[nodiscard]] const std::string& cursor() const noexcept { return at_first_round() ? cursor_ : put_off_[0].cursor; }
  /// `cursor` is the one in the reply; "0" means that the part has no more keys.
  void go_to(const std::string& cursor);
  /// Postpones a part that does not reply. Returns false if there are no other parts left.
  [[nodiscard]] bool put_off();

  /// Only postponed parts are left, and others have been listed.
  [[nodiscard]] bool others_are_listed() const noexcept { return !at_first_round() && put_off_.size() < parts_.size(); }

  /// Returns an empty text at the end.
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

/// Whether a text is a cursor of SCAN.
[[nodiscard]] bool is_cursor(std::string_view) noexcept;

}  // namespace holdfast::redis
