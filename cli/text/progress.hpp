#pragma once
#include <string>

namespace holdfast::cli {

/// A bar that moves on a terminal, and is not there elsewhere.
class progress {
 public:
  progress(std::string what, int all, std::string unit = {});
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  void show(int now);

 private:
  const std::string what_;
  const int all_;
  const std::string unit_;
  const bool live_;
};

}  // namespace holdfast::cli
