#include "conformance/suite.hpp"

#include <algorithm>

#include "support/eventually.hpp"

namespace holdfast::conformance {

namespace {

std::vector<const joined*>& all_joined() {
  static std::vector<const joined*> all;
  return all;
}

}  // namespace

joined::joined(std::string name_, guarantees promises_, std::set<power> powers_, std::chrono::milliseconds brief_,
               std::function<std::unique_ptr<service>()> open_)
    : name(std::move(name_)), promises(promises_), powers(std::move(powers_)), brief(brief_), open(std::move(open_)) {
  all_joined().push_back(this);
}

std::vector<const joined*> stores_with(const std::set<power>& wanted, std::optional<guarantees::exclusion> by) {
  std::vector<const joined*> those = all_joined();
  std::erase_if(those, [&](const joined* j) {
    return (by && j->promises.by != *by) ||
           !std::includes(j->powers.begin(), j->powers.end(), wanted.begin(), wanted.end());
  });
  return those;
}

std::vector<const joined*> fair_stores() {
  std::vector<const joined*> those = all_joined();
  std::erase_if(those, [](const joined* j) { return !j->promises.fair; });
  return those;
}

suite::suite() : service_(GetParam()->open()) {}

suite::~suite() {
  clients_.clear();
  onlooker_ = {};
  if (!GetParam()->powers.contains(power::list_names)) return;
  EXPECT_TRUE(test::eventually([&] { return service_->names_left() == 0; })) << "something is left behind";
}

suite::opened& suite::at(std::size_t n) {
  while (clients_.size() <= n) clients_.emplace_back();
  opened& c = clients_[n];
  if (!c.seen) {
    c.seen = std::make_shared<test::recorder>();
    c.handle = service_->open({.observe = c.seen});
  }
  return c;
}

store& suite::client(std::size_t n) { return *at(n).handle; }

test::recorder& suite::seen(std::size_t n) { return *at(n).seen; }

void suite::drop(std::size_t n) { at(n).handle.reset(); }

bool suite::is_free(std::string_view name) {
  if (!onlooker_.handle) onlooker_.handle = service_->open({});
  return onlooker_.handle->try_acquire(name).has_value();
}

}  // namespace holdfast::conformance
