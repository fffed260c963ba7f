#pragma once
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace holdfast::cli {

/// A folder for a demo. Gone at the end, with all that is in it.
class workplace {
 public:
  workplace() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-demo-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + name);
    path_ = name;
  }
  ~workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  workplace(const workplace&) = delete;
  workplace& operator=(const workplace&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Of names in a store: no other demo has it.
  [[nodiscard]] std::string prefix() const { return "demo/" + path_.substr(path_.rfind('-') + 1) + "/"; }

 private:
  std::string path_;
};

}  // namespace holdfast::cli
