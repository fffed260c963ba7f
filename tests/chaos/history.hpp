#pragma once
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "chaos/conditions.hpp"
#include "chaos/event.hpp"

namespace holdfast::chaos {

/// The first line of a history: the run that it belongs to.
struct heading {
  std::string topology;
  std::uint64_t seed = 0;
  promises promised;
};

/// A file of events, one per line, after its heading.
class history {
 public:
  /// Throws std::runtime_error if the file cannot be written.
  history(std::string file, const heading&);
  void add(const event& e) { out_ << e; }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  void flush() { out_.flush(); }

 private:
  const std::string file_;
  std::ofstream out_;
};

/// Calls `each` with all events of a file, in its order. Throws std::runtime_error if it is not a history.
template <class Begin, class Each>
void replay(const std::string& file, Begin begin, Each each) {
  std::ifstream in(file);
  std::string line, word, exclusion, fences;
  heading h;
  if (!(in >> word >> h.topology >> h.seed >> exclusion >> fences) || word != "chaos") {
    throw std::runtime_error(file + " is not a history");
  }
  h.promised = {exclusion == "exclusion", fences == "fences"};
  begin(h);
  std::getline(in, line);
  while (std::getline(in, line)) {
    const std::optional<event> e = parse(line);
    if (!e) throw std::runtime_error(file + ": not an event: " + line);
    each(*e);
  }
}

}  // namespace holdfast::chaos
