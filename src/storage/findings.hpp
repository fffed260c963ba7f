#pragma once
#include <string>
#include <utility>
#include <vector>

#include "holdfast/finding.hpp"

namespace holdfast::storage {

/// Collects findings.
class findings {
 public:
  void add(finding::severity level, std::string id, std::string what, std::string why, std::string cure) {
    all_.push_back({level, std::move(id), std::move(what), std::move(why), std::move(cure)});
  }
  void fine(std::string id, std::string what) { add(finding::severity::fine, std::move(id), std::move(what), {}, {}); }
  void note(std::string id, std::string what, std::string why, std::string cure) {
    add(finding::severity::note, std::move(id), std::move(what), std::move(why), std::move(cure));
  }
  void warning(std::string id, std::string what, std::string why, std::string cure) {
    add(finding::severity::warning, std::move(id), std::move(what), std::move(why), std::move(cure));
  }
  void danger(std::string id, std::string what, std::string why, std::string cure) {
    add(finding::severity::danger, std::move(id), std::move(what), std::move(why), std::move(cure));
  }
  [[nodiscard]] const std::vector<finding>& all() const noexcept { return all_; }
  [[nodiscard]] std::vector<finding> take() noexcept { return std::move(all_); }

 private:
  std::vector<finding> all_;
};

}  // namespace holdfast::storage
