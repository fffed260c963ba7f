// The smallest program that uses the library, built in every way a user may find it.
#include <holdfast/holdfast.hpp>
#include <mutex>

int main() {
  auto store = holdfast::open("memory:");
  holdfast::mutex m{store, "train/001"};
  std::scoped_lock guard{m};
  return m.current().fence() > 0 ? 0 : 1;
}
