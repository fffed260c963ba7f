#include "doctor/doctor.hpp"

#include <algorithm>
#include <cstdio>
#include <holdfast/store.hpp>

#include "doctor/report.hpp"
#include "exit_code.hpp"
#include "text/style.hpp"

namespace holdfast::cli {

namespace {

int exit_code_of(const std::vector<finding>& all) {
  const auto worst = std::ranges::max_element(all, {}, &finding::level);
  if (worst == all.end() || worst->level < finding::severity::warning) return fine;
  return worst->level == finding::severity::warning ? 1 : 2;
}

}  // namespace

int doctor(const doctor_options& wanted) {
  const store examined = wanted.store.open({}, wanted.quiet);
  const std::vector<finding> found = examined.examine();
  if (!wanted.quiet) {
    const report is{examined.url(), examined.promises(), found};
    const std::string text = wanted.json ? is.as_json() : is.as_text(style(stdout), wanted.verbose);
    std::fputs(text.c_str(), stdout);
  }
  return exit_code_of(found);
}

}  // namespace holdfast::cli
