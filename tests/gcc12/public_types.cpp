#include <holdfast/limit.hpp>
#include <holdfast/options.hpp>

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

#include "gcc12/forms.hpp"

namespace gcc12 {
namespace {

using namespace std::chrono_literals;
using enum verdict;

std::stop_source& stopper() {
  static std::stop_source source;
  return source;
}

holdfast::limit limit_of(std::chrono::nanoseconds at) {
  return holdfast::limit(holdfast::boot_clock::time_point(at), stopper().get_token());
}

int sum(std::string_view name, const holdfast::lock_options& options) {
  return static_cast<int>(options.ttl.count()) + static_cast<int>(options.label.size()) + static_cast<int>(name.size());
}

task<int> options_by_reference(std::string_view name, const holdfast::lock_options& options) {
  co_await pause();
  co_return sum(name, options);
}

task<int> options_by_value(std::string name, holdfast::lock_options options) {
  co_await pause();
  co_return sum(name, options);
}

task<int> limit_and_options(holdfast::limit limit, holdfast::lock_options options) {
  co_await pause();
  const auto at = static_cast<int>(limit.at().time_since_epoch().count());
  co_return at + static_cast<int>(options.ttl.count()) + (limit.stop().stop_possible() ? 1 : 0);
}

task<int> limit_by_reference(const holdfast::limit& limit) {
  co_await pause();
  co_return static_cast<int>(limit.at().time_since_epoch().count()) + (limit.stop().stop_possible() ? 1 : 0);
}

task<int> options_in_braces_go_by_reference() {
  const int value = co_await options_by_reference("job/9", {.ttl = 5ms, .label = "abc"});
  co_return value;
}

task<int> options_in_braces_go_by_value() {
  const int value = co_await options_by_value("job/9", {.ttl = 5ms, .label = "abc"});
  co_return value;
}

task<int> empty_braces_are_default_options() {
  const int value = co_await options_by_value("job/9", {});
  co_return value;
}

task<int> a_limit_made_in_place_comes_with_options_in_braces() {
  const int value = co_await limit_and_options(limit_of(5ns), {.ttl = 3ms});
  co_return value;
}

task<int> a_limit_made_in_place_goes_by_reference() {
  const int value = co_await limit_by_reference(limit_of(5ns));
  co_return value;
}

task<int> a_limit_is_constructed_in_place() {
  const int value = co_await limit_by_reference(holdfast::limit(holdfast::boot_clock::time_point(5ns)));
  co_return value;
}

#define FORM(name) #name, name
const form forms[] = {
    {FORM(options_in_braces_go_by_reference), 13, right},
    {FORM(options_in_braces_go_by_value), 13, right},
    {FORM(empty_braces_are_default_options), 10'005, right},
    {FORM(a_limit_made_in_place_comes_with_options_in_braces), 9, right},
    {FORM(a_limit_made_in_place_goes_by_reference), 6, right},
    {FORM(a_limit_is_constructed_in_place), 5, right},
};
#undef FORM

}  // namespace

std::span<const form> public_types() { return forms; }

}  // namespace gcc12
