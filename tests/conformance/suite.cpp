#include "conformance/suite.hpp"

#include <algorithm>
#include <iostream>
#include <string_view>

#include "support/eventually.hpp"

namespace holdfast::conformance {

namespace {

struct registry {
  std::vector<const joined*> stores;
  std::vector<declared> cases;
  const joined* chosen = nullptr;
};
registry& all() {
  static registry it;
  return it;
}

/// Registers the cases that the store of this name gets.
bool choose(std::string_view name) {
  for (const joined* each : all().stores) {
    if (each->name == name) all().chosen = each;
  }
  if (all().chosen == nullptr) return false;
  for (const declared& each : all().cases) {
    if (!each.of().met_by(*all().chosen)) continue;
    testing::RegisterTest(("store/" + std::string(each.fixture)).c_str(),
                          (std::string(each.name) + "/" + std::string(name)).c_str(), nullptr, nullptr, each.file,
                          each.line, each.make);
  }
  return true;
}

}  // namespace

bool declare(const declared& what) {
  all().cases.push_back(what);
  return true;
}

joined::joined(std::string name_, guarantees promises_, std::set<power> powers_, std::chrono::milliseconds brief_,
               std::function<std::unique_ptr<service>()> open_)
    : name(std::move(name_)), promises(promises_), powers(std::move(powers_)), brief(brief_), open(std::move(open_)) {
  all().stores.push_back(this);
}

bool needs::met_by(const joined& store) const {
  return (!by || store.promises.by == *by) && (!fair || store.promises.fair) &&
         std::includes(store.powers.begin(), store.powers.end(), powers.begin(), powers.end());
}

needs stores_with(std::set<power> powers, std::optional<guarantees::exclusion> by) {
  return {.powers = std::move(powers), .by = by};
}

needs fair_stores() { return {.powers = {}, .fair = true}; }

const joined& suite::joined_store() { return *all().chosen; }

suite::suite() : service_(joined_store().open()) {}

suite::~suite() {
  clients_.clear();
  observer_ = {};
  if (!joined_store().powers.contains(power::list_names)) return;
  EXPECT_TRUE(test::eventually([&] { return service_->names_left() == 0; })) << "something is left behind";
}

suite::opened& suite::at(std::size_t n) {
  while (clients_.size() <= n) clients_.emplace_back();
  opened& c = clients_[n];
  if (!c.seen) {
    c.seen = std::make_shared<test::recorder>();
    c.handle = service_->open({.patience = 10s, .observe = c.seen});  // longer than a busy machine is silent
  }
  return c;
}

store& suite::client(std::size_t n) { return *at(n).handle; }

test::recorder& suite::seen(std::size_t n) { return *at(n).seen; }

void suite::drop(std::size_t n) { at(n).handle.reset(); }

bool suite::is_free(std::string_view name) {
  if (!observer_.handle) observer_.handle = service_->open({});
  return observer_.handle->try_acquire(name).has_value();
}

namespace {

int run(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 2 && choose(argv[1])) return RUN_ALL_TESTS();
  std::cerr << "usage: " << argv[0] << " STORE; the stores are";
  for (const joined* each : all().stores) std::cerr << ' ' << each->name;
  std::cerr << '\n';
  return 2;
}

}  // namespace

}  // namespace holdfast::conformance

int main(int argc, char** argv) { return holdfast::conformance::run(argc, argv); }
