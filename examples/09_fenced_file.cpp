// Several processes write to a file that is guarded by fences. A small file beside it stores the highest fence.
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

int main() {
  const fs::path folder = fs::temp_directory_path() / ("holdfast-example-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const fs::path journal = folder / "journal";
  holdfast::store store = holdfast::open("memory:");
  // [gate]
  const holdfast::file_fence_gate gate{journal.string() + ".fence"};
  const auto append = [&](const char* line, std::uint64_t fence) {
    return gate.admit(fence, [&] { std::ofstream(journal, std::ios::app) << line << '\n'; });
  };
  // [/gate]

  holdfast::lease first = store.acquire("journal");
  const std::uint64_t old_fence = first.fence();
  bool right = append("first", old_fence) && append("first again", old_fence);
  first.release();

  holdfast::lease second = store.acquire("journal");
  right = right && append("second", second.fence());
  right = right && !append("late", old_fence);  // rejected, and nothing is written

  std::ifstream written(journal);
  int lines = 0;
  for (std::string line; std::getline(written, line);) ++lines;
  fs::remove_all(folder);
  return right && lines == 3 ? 0 : 1;
}
