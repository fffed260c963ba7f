#include "chaos/history.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::chaos {

history::history(std::string file, const heading& h) : file_(std::move(file)), out_(file_) {
  out_ << "chaos " << h.topology << ' ' << h.seed << (h.promised.exclusion ? " exclusion" : " none")
       << (h.promised.fences_grow ? " fences" : " none") << '\n';
  if (!out_) throw std::runtime_error("cannot write " + file_);
}

}  // namespace holdfast::chaos
