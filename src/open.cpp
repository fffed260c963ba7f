#include <memory>
#include <string>

#include "check.hpp"
#include "holdfast/store.hpp"
#include "memory/client.hpp"
#include "service.hpp"

namespace holdfast {

namespace {

/// One row per store: which scheme it answers to, and how it is made of the rest of the URL.
struct scheme {
  std::string_view name;
  std::unique_ptr<seam::backend> (*make)(std::string_view rest);
};

constexpr scheme schemes[] = {
    {"memory",
     [](std::string_view rest) -> std::unique_ptr<seam::backend> {
       return std::make_unique<memory::client>(rest.empty() ? std::make_shared<memory::server>()
                                                            : memory::server::named(std::string(rest)));
     }},
};

}  // namespace

store open(std::string_view url, const open_options& options) {
  detail::check_open_options(options);
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos) {
    throw lock_error(errc::bad_url, "", "a store is given as scheme:rest, for example memory:");
  }
  const std::string_view wanted = url.substr(0, colon);
  for (const scheme& s : schemes) {
    if (s.name == wanted) return detail::service::open(std::string(url), s.make(url.substr(colon + 1)), options);
  }
  std::string known;
  for (const scheme& s : schemes) known.append(known.empty() ? "" : ", ").append(s.name).append(":");
  // Only the scheme is quoted: the rest may hold a password.
  throw lock_error(errc::bad_url, "", "no store answers to '" + std::string(wanted) + ":'; this build knows " + known);
}

}  // namespace holdfast
