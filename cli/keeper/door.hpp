#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "process/descriptor.hpp"

namespace holdfast::cli {

/// Where a keeper is told to let go: an abstract socket of this machine (of its network namespace) with the owner's id
/// in its name. The id is random and used once, so nobody else can be meant; and the kernel takes the name away with
/// the process.
class door {
 public:
  /// Throws std::system_error.
  explicit door(const std::string& owner);
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }  ///< readable: somebody may be there
  /// Whoever is there and may ask: our user, or root. The reply is for as long as this is open.
  struct visitor {
    descriptor from;
    std::string name;  ///< what is to be let go
  };
  [[nodiscard]] std::optional<visitor> open() const;
  /// With this exit code of ours it is over.
  static void reply(const visitor&, int code) noexcept;

  /// The other side: asks the keeper of that owner to let go of that name, and waits for its end. Returns its exit
  /// code; usage: it holds another name, and goes on. Nothing: there is none here, of our user or
  /// of root. Throws std::system_error: it did not
  /// answer in time, or we are not its user.
  [[nodiscard]] static std::optional<int> knock(const std::string& owner, const std::string& name,
                                                std::chrono::milliseconds patience);

 private:
  descriptor fd_;
};

}  // namespace holdfast::cli
