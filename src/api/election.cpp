#include "holdfast/election.hpp"

#include <algorithm>
#include <utility>

#include "api/check.hpp"
#include "api/service.hpp"
#include "core/announcement.hpp"
#include "core/leader_watch.hpp"
#include "runtime/inline_io.hpp"

namespace holdfast {

namespace detail {

namespace {

using namespace std::chrono_literals;

std::string cell_of(const std::string& name) { return "election/" + name; }

}  // namespace

/// A participant of an election.
class candidate {
 public:
  candidate(std::shared_ptr<service> s, std::string_view name, const lock_options& options)
      : service_(std::move(s)), name_((check_name(name), name)), on_(check_options_of_object(name, options)) {}

  [[nodiscard]] std::optional<leadership> campaign(const limit& until) const {
    if (const auto no_cells = service_->backend().open_cell(cell_of(name_))->refusal())
      service_->fail(*no_cells, name_);
    std::optional<lease> won = service_->acquire(core::request(name_, on_, until));
    if (!won) return std::nullopt;
    std::shared_ptr<core::announcement> announced = service_->announce(*won, cell_of(name_), on_.label);
    // Waits for the announcement, so that the leader also observes itself as the leader. It leads even without it.
    if (service_->may_wait()) {
      (void)runtime::wait_here(announced->begun(),
                               limit(std::min(runtime::later(boot_clock::now(), 1s), won->deadline()), until.stop()));
    }
    return leadership(std::move(*won), std::move(announced));
  }
  [[nodiscard]] const std::shared_ptr<service>& at() const noexcept { return service_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  const std::shared_ptr<service> service_;
  const std::string name_;
  const core::terms on_;
};

/// Observes who leads.
class follower {
 public:
  follower(std::shared_ptr<service> s, std::string name)
      : service_(std::move(s)), name_(std::move(name)), watch_(service_->open_cell(cell_of(name_), name_)) {}

  [[nodiscard]] bool next(const limit& until) {
    service_->check_not_forked(name_);
    runtime::inline_io here;
    storage::answer<storage::done> end = run_inline(watch_.next(here, until));
    if (end.is_unknown()) service_->fail(end.why(), name_);
    return end.is_yes();
  }
  [[nodiscard]] const std::optional<core::leading>& current() const noexcept { return watch_.current(); }

 private:
  const std::shared_ptr<service> service_;
  const std::string name_;
  core::leader_watch watch_;
};

}  // namespace detail

leadership::leadership(lease l, std::shared_ptr<core::announcement> a) noexcept
    : lease_(std::move(l)), announced_(std::move(a)) {}

leadership::leadership(leadership&&) noexcept = default;

leadership& leadership::operator=(leadership&& other) noexcept {
  if (this != &other) {
    resign();
    lease_ = std::move(other.lease_);
    announced_ = std::move(other.announced_);
  }
  return *this;
}

leadership::~leadership() { resign(); }

std::uint64_t leadership::fence() const noexcept { return lease_.fence(); }

bool leadership::held() const noexcept { return lease_.held(); }

boot_clock::duration leadership::remaining() const noexcept { return lease_.remaining(); }

std::stop_token leadership::lost_token() const { return lease_.lost_token(); }

std::stop_token leadership::revoke_requested() const { return lease_.revoke_requested(); }

released leadership::resign() noexcept {
  if (announced_) announced_->withdraw();
  return lease_.release();
}

leaders::leaders(std::unique_ptr<detail::follower> f) noexcept : follower_(std::move(f)) {}

leaders::leaders(leaders&&) noexcept = default;

leaders& leaders::operator=(leaders&&) noexcept = default;

leaders::~leaders() = default;

std::optional<leader> leaders::current() const {
  const std::optional<core::leading>& is = follower_->current();
  if (!is) return std::nullopt;
  return leader{is->fence, is->label};
}

bool leaders::wait_for_change(const limit& until) { return follower_->next(until); }

election::election(const store& s, std::string_view name, const lock_options& options)
    : candidate_(std::make_unique<detail::candidate>(detail::service::of(s), name, options)) {}

election::~election() = default;

leadership election::campaign() { return std::move(*candidate_->campaign(limit(runtime::never))); }

std::optional<leadership> election::try_campaign(const limit& until) { return candidate_->campaign(until); }

leaders election::observe() const {
  auto watching = std::make_unique<detail::follower>(candidate_->at(), candidate_->name());
  (void)watching->next(within(std::chrono::seconds(0)));
  return leaders(std::move(watching));
}

}  // namespace holdfast
