#include "holdfast/error.hpp"

namespace holdfast {

namespace {

class category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "holdfast"; }
  [[nodiscard]] std::string message(int code) const override {
    switch (static_cast<errc>(code)) {
      case errc::unreachable: return "the store gave no answer";
      case errc::denied: return "the store denies access";
      case errc::not_ready: return "the store cannot serve locks now";
      case errc::foreign: return "the name is used for something else";
      case errc::lost: return "the lease has ended";
      case errc::closed: return "the store was closed";
      case errc::forked: return "this process is a fork of the one that opened the store; open one of its own";
      case errc::would_deadlock: return "this thread holds it already";
      case errc::bad_url: return "the URL of the store is wrong";
      case errc::bad_name: return "not a name for a lock";
      case errc::bad_option: return "not a value for this option";
      case errc::unsupported: return "not supported";
    }
    return "unknown error";
  }
};

std::string sentence(std::string_view lock, std::string_view text) {
  std::string all(lock);
  if (!lock.empty() && !text.empty()) all += ": ";
  return all.append(text);
}

}  // namespace

const std::error_category& error_category() noexcept {
  static const category the_one;
  return the_one;
}

std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

lock_error::lock_error(std::error_code code, std::string_view lock, std::string_view text, bool no_answer)
    : std::system_error(code, sentence(lock, text)), lock_(lock), no_answer_(no_answer) {}

}  // namespace holdfast
