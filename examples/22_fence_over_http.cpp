// A server rejects a client that was overtaken: the fence is a header, checked by a gate for each resource.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <map>

// [server]
class server {
 public:
  int put(const std::string& path, std::string_view header, const std::string& body) {
    const auto fence = holdfast::parse_fence(header);  // from the header Holdfast-Fence
    if (!fence) return 400;
    return gates_.admit(path, *fence, [&] { files_.at(path) = body; }) ? 204 : 409;
  }

 private:
  holdfast::fence_gates gates_;  // on reads, too
  std::map<std::string, std::string> files_{{"/plan", ""}};
};
// [/server]

int main() {
  server files;
  holdfast::store store = holdfast::open("memory:");
  std::string old_header;
  {
    holdfast::lease first = store.acquire("plan");
    old_header = holdfast::format_fence(first.fence());
  }
  holdfast::lease second = store.acquire("plan");
  std::cout << holdfast::fence_header << ": " << holdfast::format_fence(second.fence()) << '\n';
  const bool admitted = files.put("/plan", holdfast::format_fence(second.fence()), "new") == 204;
  const bool refused = files.put("/plan", old_header, "late") == 409;
  return admitted && refused && files.put("/plan", "-1", "bad") == 400 ? 0 : 1;
}
