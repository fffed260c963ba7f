#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gcc12/forms.hpp"

namespace gcc12 {
namespace {

using enum verdict;

task<std::vector<probe>> three_probes() {
  co_await pause();
  std::vector<probe> three(3);
  co_return three;
}

task<std::pair<int, probe>> number_and_probe() {
  co_await pause();
  co_return std::pair(1, probe(1));
}

task<std::optional<probe>> maybe_probe() {
  co_await pause();
  co_return probe(1);
}

task<aggregate> braced_result() {
  co_await pause();
  co_return {1, probe(1)};
}

task<aggregate> designated_result() {
  co_await pause();
  co_return aggregate{.number = 1, .watched = probe(1)};
}

struct member {
  int value = 0;
  task<int> take(probe p) {
    co_await pause();
    value += p.value();
    co_return value;
  }
};

// how the statement begins

task<int> the_result_is_dropped() {
  co_await take_probe(probe(7));
  co_return 1;
}

task<int> the_result_is_dropped_by_a_cast_to_void() {
  (void)co_await take_probe(probe(7));
  co_return 1;
}

task<int> the_result_gets_a_name() {
  const int value = co_await take_probe(probe(1));
  co_return value;
}

task<int> the_result_is_assigned() {
  int value = co_await take_probe(probe(1));
  value = co_await take_probe(probe(3));
  co_return value;
}

task<int> the_result_is_assigned_to_a_member() {
  aggregate held{1, probe(1)};
  held.number = co_await take_probe(probe(3));
  co_return held.number;
}

task<int> the_result_is_returned() { co_return co_await take_probe(probe(1)); }

task<int> nothing_is_returned_from_nothing() {
  const auto outer = [](probe) -> task<void> { co_return co_await take_nothing(); };
  co_await outer(probe(1));
  co_return 1;
}

task<int> the_result_is_bound_to_names() {
  const auto [number, watched] = co_await number_and_probe();
  co_return number + watched.value();
}

task<int> the_result_is_an_optional_with_a_name() {
  const std::optional<probe> found = co_await maybe_probe();
  if (found) co_return found->value();
  co_return 0;
}

task<int> the_result_is_a_container_with_a_name() {
  const std::vector<probe> three = co_await three_probes();
  int count = 0;
  for (const probe& each : three) count += 1 + each.value();
  co_return count;
}

task<int> the_result_is_an_aggregate_made_by_a_braced_co_return() {
  const aggregate result = co_await braced_result();
  co_return result.number;
}

task<int> the_result_is_an_aggregate_made_by_a_designated_co_return() {
  const aggregate result = co_await designated_result();
  co_return result.number;
}

task<int> a_branch_without_braces_awaits() {
  int value = 0;
  if (probe::alive >= 0) value = co_await take_probe(probe(1));
  co_return value;
}

task<int> a_loop_awaits_in_its_body() {
  int total = 0;
  for (int i = 1; i <= 3; ++i) {
    const int value = co_await take_probe(probe(i));
    total += value;
  }
  co_return total;
}

task<int> a_branch_returns_what_it_awaits() {
  if (probe::alive >= 0) co_return co_await take_int(1);
  co_return co_await take_int(2);
}

task<int> both_branches_return_what_they_await() {
  const bool flag = co_await take_bool(true);
  if (flag) {
    co_return co_await take_probe(probe(1));
  } else {
    co_return co_await take_probe(probe(2));
  }
}

task<int> a_loop_ends_by_what_it_awaits() {
  for (int i = 0;; ++i) {
    const bool flag = co_await take_bool(true);
    if (!flag) continue;
    const int value = co_await take_int(1);
    if (i >= 2) co_return value;
  }
}

task<int> a_range_for_awaits_in_its_body() {
  int total = 0;
  const std::vector<probe> three(3, probe(2));
  for (const probe& each : three) {
    const int value = co_await take_probe(each);
    total += value;
  }
  co_return total;
}

task<int> a_case_awaits() {
  int value = probe::alive >= 0 ? 1 : 2;
  switch (value) {
    case 1: value = co_await take_probe(probe(3)); break;
    default: co_await take_nothing();
  }
  co_return value;
}

task<int> the_awaited_task_throws() {
  try {
    const int value = co_await fail_with(probe(5));
    co_return value;
  } catch (int thrown) {
    co_return thrown;
  }
}

task<int> the_task_that_is_returned_throws() {
  const auto outer = []() -> task<int> { co_return co_await fail_with(probe(5)); };
  try {
    const int value = co_await outer();
    co_return value + 100;
  } catch (int thrown) {
    co_return thrown;
  }
}

task<int> a_task_with_a_name_is_awaited_by_a_move() {
  task<int> work = take_probe(probe(1));
  const int value = co_await std::move(work);
  co_return value;
}

task<int> a_member_function_is_awaited() {
  member object;
  const int value = co_await object.take(probe(1));
  co_return value;
}

// what the arguments are

task<int> an_argument_is_a_number() {
  const int value = co_await take_int(1);
  co_return value;
}

task<int> an_argument_is_a_temporary_of_a_class() {
  const int value = co_await now_probe(probe(1));
  co_return value;
}

task<int> an_argument_is_a_string_made_in_place() {
  const int size = co_await take_text(std::string(100, 'x'));
  co_return size;
}

task<int> an_argument_is_a_literal_that_becomes_a_string() {
  const int size = co_await take_text("0123456789012345678901234567890123456789");
  co_return size;
}

task<int> an_argument_is_a_unique_ptr_made_in_place() {
  const int value = co_await take_pointer(std::make_unique<probe>(1));
  co_return value;
}

task<int> an_argument_is_an_aggregate_that_had_a_name_first() {
  aggregate named{1, probe(1)};
  const int value = co_await take_aggregate(std::move(named));
  co_return value;
}

task<int> an_argument_is_a_class_with_a_constructor() {
  const int value = co_await take_made(made(1, probe(1)));
  co_return value;
}

task<int> an_argument_is_a_class_with_a_constructor_for_an_awaiter() {
  const int value = co_await now_made(made(1, probe(1)));
  co_return value;
}

task<int> an_argument_is_a_lambda_that_had_a_name_first() {
  const probe watched(1);
  const auto read = [watched] { return watched.value(); };
  const int value = co_await take_function(read);
  co_return value;
}

task<int> an_argument_is_a_lambda_without_captures() {
  const int value = co_await take_function([] { return 1; });
  co_return value;
}

task<int> a_lambda_coroutine_without_captures_is_awaited() {
  const auto work = [](probe p) -> task<int> {
    co_await pause();
    co_return p.value();
  };
  const int value = co_await work(probe(1));
  co_return value;
}

#define FORM(name) #name, name
const form forms[] = {
    {FORM(the_result_is_dropped), 1, right},
    {FORM(the_result_is_dropped_by_a_cast_to_void), 1, right},
    {FORM(the_result_gets_a_name), 1, right},
    {FORM(the_result_is_assigned), 3, right},
    {FORM(the_result_is_assigned_to_a_member), 3, right},
    {FORM(the_result_is_returned), 1, right},
    {FORM(nothing_is_returned_from_nothing), 1, right},
    {FORM(the_result_is_bound_to_names), 2, right},
    {FORM(the_result_is_an_optional_with_a_name), 1, right},
    {FORM(the_result_is_a_container_with_a_name), 3, right},
    {FORM(the_result_is_an_aggregate_made_by_a_braced_co_return), 1, right},
    {FORM(the_result_is_an_aggregate_made_by_a_designated_co_return), 1, right},
    {FORM(a_branch_without_braces_awaits), 1, right},
    {FORM(a_loop_awaits_in_its_body), 6, right},
    {FORM(a_branch_returns_what_it_awaits), 1, right},
    {FORM(both_branches_return_what_they_await), 1, right},
    {FORM(a_loop_ends_by_what_it_awaits), 1, right},
    {FORM(a_range_for_awaits_in_its_body), 6, right},
    {FORM(a_case_awaits), 3, right},
    {FORM(the_awaited_task_throws), 5, right},
    {FORM(the_task_that_is_returned_throws), 5, right},
    {FORM(a_task_with_a_name_is_awaited_by_a_move), 1, right},
    {FORM(a_member_function_is_awaited), 1, right},
    {FORM(an_argument_is_a_number), 1, right},
    {FORM(an_argument_is_a_temporary_of_a_class), 1, right},
    {FORM(an_argument_is_a_string_made_in_place), 100, right},
    {FORM(an_argument_is_a_literal_that_becomes_a_string), 40, right},
    {FORM(an_argument_is_a_unique_ptr_made_in_place), 1, right},
    {FORM(an_argument_is_an_aggregate_that_had_a_name_first), 1, right},
    {FORM(an_argument_is_a_class_with_a_constructor), 1, right},
    {FORM(an_argument_is_a_class_with_a_constructor_for_an_awaiter), 1, right},
    {FORM(an_argument_is_a_lambda_that_had_a_name_first), 1, right},
    {FORM(an_argument_is_a_lambda_without_captures), 1, right},
    {FORM(a_lambda_coroutine_without_captures_is_awaited), 1, right},
};
#undef FORM

}  // namespace

std::span<const form> relied_on() { return forms; }

}  // namespace gcc12
