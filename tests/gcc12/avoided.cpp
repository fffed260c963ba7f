#include <optional>
#include <utility>
#include <vector>

#include "gcc12/forms.hpp"

namespace gcc12 {
namespace {

using enum verdict;

task<std::vector<probe>> three_probes() {
  co_await pause();
  co_return std::vector<probe>(3);
}

task<std::optional<probe>> maybe_probe() {
  co_await pause();
  co_return probe(1);
}

task<aggregate> braced_result() {
  co_await pause();
  co_return {1, probe(1)};
}

// braces in the awaited expression

task<int> a_braced_aggregate_is_passed_to_an_awaiter() { co_return co_await now_aggregate({1, probe(1)}); }

task<int> a_braced_aggregate_is_passed_by_reference_to_an_awaiter() { co_return co_await now_reference({1, probe(1)}); }

task<int> a_braced_aggregate_is_passed_to_a_task() { co_return co_await take_aggregate({1, probe(1)}); }

task<int> a_braced_aggregate_is_passed_to_a_task_whose_result_gets_a_name() {
  const int value = co_await take_aggregate({1, probe(1)});
  co_return value;
}

task<int> a_designated_aggregate_is_passed_to_a_task() {
  co_return co_await take_aggregate({.number = 1, .watched = probe(1)});
}

task<int> a_typed_aggregate_is_passed_to_a_task() { co_return co_await take_aggregate(aggregate{1, probe(1)}); }

task<int> a_braced_aggregate_is_passed_by_reference_to_a_task() { co_return co_await take_reference({1, probe(1)}); }

task<int> empty_braces_make_an_aggregate() { co_return co_await take_aggregate({}); }

task<int> a_typed_aggregate_is_empty() { co_return co_await take_aggregate(aggregate{}); }

task<int> a_typed_aggregate_becomes_an_optional() { co_return co_await take_optional(aggregate{1, probe(1)}); }

task<int> an_aggregate_with_an_await_inside_is_passed_to_a_task() {
  co_return co_await take_aggregate(aggregate{co_await take_int(1), probe(1)});
}

task<int> an_aggregate_with_an_await_inside_gets_a_name() {
  const aggregate named{co_await take_int(1), probe(1)};
  co_return named.number;
}

task<int> the_awaiter_itself_is_a_braced_aggregate() { co_return co_await ready{probe(1), 1}; }

task<int> the_awaiter_itself_is_an_empty_aggregate() { co_return co_await ready{}; }

task<int> braces_call_a_constructor() { co_return co_await take_made({1, probe(1)}); }

task<int> typed_braces_call_a_constructor() { co_return co_await take_made(made{1, probe(1)}); }

// lambdas in the awaited expression

task<int> a_lambda_coroutine_with_a_capture_is_made_and_awaited_at_once() {
  const probe watched(1);
  co_return co_await [watched]() -> task<int> {
    co_await pause();
    co_return watched.value();
  }();
}

task<int> a_lambda_with_a_capture_is_passed_to_a_task() {
  const probe watched(1);
  co_return co_await take_function([watched] { return watched.value(); });
}

task<int> a_lambda_with_a_capture_is_passed_to_a_task_whose_result_gets_a_name() {
  const probe watched(1);
  const int value = co_await take_function([watched] { return watched.value(); });
  co_return value;
}

task<int> a_lambda_that_captures_by_reference_is_passed_to_a_task() {
  const probe watched(1);
  co_return co_await take_function([&watched] { return watched.value(); });
}

// awaits in a condition

task<int> an_if_compares_with_an_aggregate_made_inside() {
  if (co_await take_aggregate(aggregate{1, probe(1)}) == 1) co_return 1;
  co_return 0;
}

task<int> an_if_compares_with_a_temporary_made_inside() {
  if (co_await take_probe(probe(1)) == 1) co_return 1;
  co_return 0;
}

task<int> an_if_compares_with_a_literal_that_becomes_a_string() {
  if (co_await take_text("0123456789012345678901234567890123456789") == 40) co_return 1;
  co_return 0;
}

task<int> an_if_compares_with_nothing_made_inside() {
  const int one = probe::alive < 0 ? 2 : 1;
  if (co_await take_int(one) == 1) co_return 1;
  co_return 0;
}

task<int> an_if_negates() {
  if (!co_await take_bool(false)) co_return 1;
  co_return 0;
}

task<int> an_if_names_the_result_first() {
  if (const int value = co_await take_probe(probe(1)); value == 1) co_return 1;
  co_return 0;
}

task<int> an_if_declares_an_optional() {
  if (const auto found = co_await maybe_probe()) co_return found->value();
  co_return 0;
}

task<int> a_switch_with_a_temporary_made_of_a_literal() {
  switch (co_await take_probe(probe(1))) {
    case 1: co_return 1;
    default: co_return 0;
  }
}

task<int> a_switch_with_a_temporary_made_of_a_variable() {
  const int one = probe::alive < 0 ? 2 : 1;
  switch (co_await take_probe(probe(one))) {
    case 1: co_return 1;
    default: co_return 0;
  }
}

task<int> a_switch_with_a_literal_that_becomes_a_string() {
  switch (co_await take_text("0123456789012345678901234567890123456789")) {
    case 40: co_return 1;
    default: co_return 0;
  }
}

task<int> a_while_with_an_and() {
  int count = 0;
  while (count < 3 && co_await take_probe(probe(1)) == 1) ++count;
  co_return count;
}

task<int> a_conditional_operator_awaits_on_both_sides() {
  const bool first = probe::alive >= 0;
  const int value = first ? co_await take_probe(probe(1)) : co_await take_probe(probe(2));
  co_return value;
}

task<int> not_and_or_in_one_expression() {
  const bool value = !co_await take_bool(false) && (co_await take_bool(true) || co_await take_bool(false));
  co_return value ? 1 : 0;
}

task<int> a_range_for_runs_over_the_result() {
  int count = 0;
  for (const probe& each : co_await three_probes()) count += 1 + each.value();
  co_return count;
}

// awaits in a larger expression

task<int> two_awaits_in_one_sum() { co_return co_await take_probe(probe(1)) + co_await take_probe(probe(2)); }

task<int> the_result_is_part_of_an_expression() { co_return (co_await take_int(1)) + 1; }

task<int> a_member_of_the_result_is_read() { co_return (co_await braced_result()).number; }

#define FORM(name) #name, name
const form forms[] = {
    {FORM(a_braced_aggregate_is_passed_to_an_awaiter), 1, destroyed_twice},
    {FORM(a_braced_aggregate_is_passed_by_reference_to_an_awaiter), 1, destroyed_twice},
    {FORM(a_braced_aggregate_is_passed_to_a_task), 1, destroyed_twice},
    {FORM(a_braced_aggregate_is_passed_to_a_task_whose_result_gets_a_name), 1, destroyed_twice},
    {FORM(a_designated_aggregate_is_passed_to_a_task), 1, destroyed_twice},
    {FORM(a_typed_aggregate_is_passed_to_a_task), 1, destroyed_twice},
    {FORM(a_braced_aggregate_is_passed_by_reference_to_a_task), 1, destroyed_twice},
    {FORM(empty_braces_make_an_aggregate), 0, destroyed_twice},
    {FORM(a_typed_aggregate_is_empty), 0, destroyed_twice},
    {FORM(a_typed_aggregate_becomes_an_optional), 1, destroyed_twice},
    {FORM(an_aggregate_with_an_await_inside_is_passed_to_a_task), 1, destroyed_twice},
    {FORM(an_aggregate_with_an_await_inside_gets_a_name), 1, destroyed_twice},
    {FORM(the_awaiter_itself_is_a_braced_aggregate), 1, destroyed_twice},
    {FORM(the_awaiter_itself_is_an_empty_aggregate), 0, destroyed_twice},
    {FORM(braces_call_a_constructor), 1, right},
    {FORM(typed_braces_call_a_constructor), 1, right},
    {FORM(a_lambda_coroutine_with_a_capture_is_made_and_awaited_at_once), 1, destroyed_twice},
    {FORM(a_lambda_with_a_capture_is_passed_to_a_task), 1, destroyed_twice},
    {FORM(a_lambda_with_a_capture_is_passed_to_a_task_whose_result_gets_a_name), 1, destroyed_twice},
    {FORM(a_lambda_that_captures_by_reference_is_passed_to_a_task), 1, right},
    {FORM(an_if_compares_with_an_aggregate_made_inside), 1, body_lost},
    {FORM(an_if_compares_with_a_temporary_made_inside), 1, body_lost},
    {FORM(an_if_compares_with_a_literal_that_becomes_a_string), 1, body_lost},
    {FORM(an_if_compares_with_nothing_made_inside), 1, right},
    {FORM(an_if_negates), 1, body_lost},
    {FORM(an_if_names_the_result_first), 1, right},
    {FORM(an_if_declares_an_optional), 1, right},
    {FORM(a_switch_with_a_temporary_made_of_a_literal), 1, body_lost},
    {FORM(a_switch_with_a_temporary_made_of_a_variable), 1, right},
    {FORM(a_switch_with_a_literal_that_becomes_a_string), 1, body_lost},
    {FORM(a_while_with_an_and), 3, right},
    {FORM(a_conditional_operator_awaits_on_both_sides), 1, right},
    {FORM(not_and_or_in_one_expression), 1, right},
    {FORM(a_range_for_runs_over_the_result), 3, right},
    {FORM(two_awaits_in_one_sum), 3, right},
    {FORM(the_result_is_part_of_an_expression), 2, right},
    {FORM(a_member_of_the_result_is_read), 1, right},
};
#undef FORM

}  // namespace

std::span<const form> avoided() { return forms; }

}  // namespace gcc12
