#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "directory/places.hpp"
#include "directory/sessions.hpp"
#include "holdfast/state.hpp"

namespace holdfast::directory {

using claims_by_session = std::map<session_id, std::vector<owner_bytes>>;

/// How a name looks to one who only looks: those who hold and wait, as far as they live and their time is not over.
/// Changes nothing, so the dead stay where they are.
class survey {
 public:
  /// Throws storage::failure.
  survey(places&, const sessions&, const std::string& name);

  struct bounds {  ///< of what is listed
    std::size_t holders, waiters;
  };
  [[nodiscard]] state as_state(std::int64_t pid_namespace, const bounds&) const;
  [[nodiscard]] const std::vector<places::row>& holders() const noexcept { return holders_; }
  /// The claims of all who hold it, by their sessions; with a fence, of those who have it.
  [[nodiscard]] claims_by_session holders_with(std::uint64_t fence) const;

 private:
  places& rows_;
  std::vector<places::row> holders_, waiters_;
  std::int64_t now_;
};

}  // namespace holdfast::directory
