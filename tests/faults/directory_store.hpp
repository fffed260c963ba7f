#pragma once
#include <string>

#include "holdfast/holdfast.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::faults {

/// A directory store for one test.
class directory_store {
 public:
  [[nodiscard]] std::string path() const { return folder_.file("locks"); }
  [[nodiscard]] std::string file(const std::string& name) const { return path() + "/" + name; }
  [[nodiscard]] std::string url() const { return "dir:" + path(); }
  [[nodiscard]] store open(const open_options& o = {}) const { return holdfast::open(url(), o); }

 private:
  test::temporary_folder folder_;
};

/// Returns the error that `f` throws.
template <class F>
[[nodiscard]] std::pair<std::error_code, std::string> failure_of(F f) {
  try {
    f();
  } catch (const lock_error& e) {
    return {e.code(), e.what()};
  }
  return {{}, "no error"};
}

[[nodiscard]] inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace holdfast::faults
