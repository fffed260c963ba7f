#include "redis/cluster.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "redis/error_reply.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using net::url;
using runtime::io;
using runtime::later;
using runtime::task;
using runtime::wake;
using names = std::vector<std::string>;

namespace {

constexpr int most_redirections = 8;
constexpr milliseconds between_maps = 100ms;

bool same(const url::place& one, const url::place& other) { return one.port == other.port && one.host == other.host; }

settings of_node(settings s, const url::place& at) {
  s.host = at.host;
  s.port = at.port;
  return s;
}

/// One node: it does not say who we are, since that stands at another.
identity of_node(const identity& me) { return {me.inboxes, me.id, std::nullopt}; }

/// Of several replies the first is that of the command with the key.
const std::string* error_in(const reply& r, const command* to) noexcept {
  const value* v = std::get_if<value>(&r);
  if (v != nullptr && to != nullptr && to->wanted() > 1 && !v->items.empty()) v = v->items.data();
  return v != nullptr && v->is(value::kind::error) ? &v->text : nullptr;
}

bool is_unreachable(const reply& r) noexcept {
  const auto* const why = std::get_if<seam::failure>(&r);
  return why != nullptr && !why->permanent();
}

/// Others may know better who has the slot.
bool is_trouble(const reply& r, const command* to) noexcept {
  const std::string* const error = error_in(r, to);
  if (error == nullptr) return is_unreachable(r);
  return error->starts_with("CLUSTERDOWN") || is_wrong_server(*error);
}

}  // namespace

cluster::node::node(url::place where, std::size_t n, const settings& s, const identity& me, runtime::loop& loop,
                    listener& who)
    : at(std::move(where)), number(n), all_nodes(who), way(of_node(s, at), of_node(me), loop, *this) {}

cluster::cluster(const settings& s, const identity& me, runtime::loop& loop, listener& who)
    : settings_(s), me_(me), loop_(loop), listener_(who) {
  for (const url::place& each : settings_.seeds) (void)at(each);
}

cluster::node& cluster::at(const url::place& where) {
  return known_.with([&](known& k) -> node& {
    for (const auto& each : k.nodes) {
      if (same(each->at, where)) return *each;
    }
    k.nodes.push_back(std::make_unique<node>(where, k.nodes.size(), settings_, me_, loop_, listener_));
    return *k.nodes.back();
  });
}

cluster::node* cluster::has(std::uint16_t slot) const noexcept {
  return known_.with([&](const known& k) {
    const std::uint16_t number = k.route[slot];
    return number == nobody ? nullptr : k.nodes[number].get();
  });
}

task<reply> cluster::call(io& i, const command& what, limit l, std::optional<left_behind>& left) {
  if (!introduced_.load(std::memory_order_relaxed) && !introduced_.exchange(true)) {
    std::optional<left_behind> nobody_minds;
    const errand introduction{&*me_.introduction, slot_of(me_.introduction->key()), &nobody_minds};
    const reply said = co_await run(i, introduction, l);
    loop_.start();
    tasks_.spawn(introduce(std::holds_alternative<value>(said)));
  }
  const errand mine{&what, slot_of(what.key()), &left};
  reply got = co_await run(i, mine, std::move(l));
  co_return got;
}

/// Once an hour: the record lasts for a day.
task<void> cluster::introduce(bool already) {
  for (;;) {
    const limit pause(later(loop_.now(), already ? milliseconds(1h) : 1s), ending_.get_token());
    const wake why = co_await sleep(loop_, pause);
    if (why == wake::stopped) co_return;
    std::optional<left_behind> nobody_minds;
    const errand introduction{&*me_.introduction, slot_of(me_.introduction->key()), &nobody_minds};
    const reply said = co_await run(loop_, introduction, limit(later(loop_.now(), 5s), ending_.get_token()));
    already = std::holds_alternative<value>(said);
  }
}

/// There, and wherever the nodes send us.
task<reply> cluster::run(io& i, errand what, limit l) {
  std::optional<seam::failure> lost = co_await make_sure_of_map(i, l);
  if (lost) co_return std::move(*lost);
  node* to = has(what.slot);
  bool once = false;
  for (int hops = 0; to != nullptr; ++hops) {
    reply got = seam::failure(errc::unreachable, "");
    std::optional<left_behind> left;  // of this try: an earlier one may have left something elsewhere
    errand one = what;
    if (what.left != nullptr) one.left = &left;
    if (once) {
      got = co_await run_at_once(i, *to, one, l);
    } else {
      got = co_await run_at(i, *to, one, l);
    }
    if (left) *what.left = left;
    if (is_trouble(got, what.what)) {
      node* const heir = co_await find_heir(i, *to, one, l);
      if (heir == nullptr || hops >= most_redirections) co_return got;
      to = heir;
      once = false;
      continue;
    }
    const std::string* const error = error_in(got, what.what);
    if (error == nullptr) co_return got;
    const std::optional<redirection> elsewhere = redirection::of(*error, to->at);
    if (!elsewhere) co_return got;
    if (hops >= most_redirections || i.now() >= l.at() || l.stop().stop_requested())
      co_return seam::failure(errc::not_ready, "the nodes of the cluster disagree: " + *error);
    once = elsewhere->once;
    to = &at(elsewhere->to);
    if (!once) learn(*elsewhere);
  }
  draw_map_soon();
  co_return seam::failure(errc::not_ready,
                          "no node of the cluster has the slot " + std::to_string(what.slot) + " of this name");
}

/// Who has the slot now, if it is another, and the first has certainly not carried out the command: a release that is
/// carried out twice says the second time that the lock was lost. Whoever blocks asks right away; the loop, where
/// thousands may come at the same time, lets it be asked once for all of them.
task<cluster::node*> cluster::find_heir(io& i, const node& of, errand what, limit l) {
  const bool sent = what.left != nullptr && *what.left;
  if (!i.in_place() || sent) {
    draw_map_soon();
    co_return nullptr;
  }
  const std::optional<seam::failure> lost = co_await draw_map(i, std::move(l));
  node* const now = lost ? nullptr : has(what.slot);
  co_return now == &of ? nullptr : now;
}

/// What is left of a slot that moves; only this one command.
task<reply> cluster::run_at_once(io& i, node& to, errand what, limit l) {
  if (what.what == nullptr) co_return seam::failure(errc::not_ready, "a slot of the cluster is moving");
  command asking(1);
  asking.add("ASKING");
  const command both = what.what->with_before_last(asking);
  what.what = &both;
  reply got = co_await run_at(i, to, what, std::move(l));
  co_return got;
}

/// Thousands of renewals may be due at a node that is not there: one of them finds out whether it is back, and the
/// others make room for those of other nodes.
task<reply> cluster::run_at(io& i, node& to, errand what, limit l) {
  const bool by_main = what.what == nullptr || !i.in_place();
  const bool down = by_main && to.failed && !to.way.main().listens();
  if (down && to.probing.exchange(true))
    co_return seam::failure(errc::unreachable, "the node is not there (" + text_of(to.at) + ")");
  reply got = seam::failure(errc::unreachable, "");
  try {
    if (what.what == nullptr) {
      got = co_await to.way.main().hear(i, what.slot, l);
    } else {
      got = co_await to.way.call(i, *what.what, l, *what.left);
    }
  } catch (...) {
    if (down) to.probing = false;
    throw;
  }
  if (what.left != nullptr && *what.left) (*what.left)->node = to.number;
  const bool our_time_is_over = i.now() >= l.at() || l.stop().stop_requested();
  if (!is_unreachable(got)) {
    to.failed = false;
  } else if (by_main || !our_time_is_over) {
    to.failed = true;
  }
  if (down) to.probing = false;
  // Whoever holds a lock is told there if somebody wants it.
  const bool about_a_key = what.what != nullptr && !what.what->key().empty();
  if (!i.in_place() && about_a_key && error_in(got, what.what) == nullptr) to.way.main().hear_soon(what.slot);
  co_return got;
}

void cluster::follow(const left_behind& where, const command& what) noexcept {
  node* const to = known_.with([&](known& k) { return k.nodes[where.node].get(); });
  to->way.follow(where, what);
}

seam::shard cluster::shard_of(std::uint16_t slot) const noexcept {
  const node* const there = has(slot);
  return there == nullptr ? seam::no_shard : there->shard();
}

bool cluster::listens(const std::string& key) const noexcept {
  const std::uint16_t slot = slot_of(key);
  const node* const to = has(slot);
  return to != nullptr && to->way.main().hears(slot);
}

task<std::optional<seam::failure>> cluster::listen(io& i, const std::string& key, limit l) {
  const errand to_listen{nullptr, slot_of(key), nullptr};
  reply got = co_await run(i, to_listen, std::move(l));
  if (auto* const why = std::get_if<seam::failure>(&got)) co_return std::move(*why);
  if (const std::string* const error = error_in(got, nullptr)) co_return meaning_of(*error, settings_.prefix);
  co_return std::nullopt;
}

void cluster::post(const command& what) {
  if (node* const to = has(slot_of(what.key()))) to->way.post(what);
}

task<seam::answer<names>> cluster::parts(io& i, limit l) {
  std::optional<seam::failure> lost = co_await make_sure_of_map(i, std::move(l));
  if (lost) co_return seam::answer<names>::unknown(std::move(*lost));
  names all;
  known_.with([&](known& k) {
    std::vector<bool> taken(k.nodes.size());
    for (const std::uint16_t number : k.route) {
      if (number == nobody || taken[number]) continue;
      taken[number] = true;
      all.push_back(text_of(k.nodes[number]->at));
    }
  });
  std::sort(all.begin(), all.end());
  co_return seam::answer<names>::yes(std::move(all));
}

link& cluster::part(const std::string& name) {
  return known_.with([&](known& k) -> link& {
    for (const auto& each : k.nodes) {
      if (text_of(each->at) == name) return each->way;
    }
    return k.nodes.front()->way;
  });
}

task<std::optional<seam::failure>> cluster::make_sure_of_map(io& i, limit l) {
  const bool mapped = known_.with([](const known& k) { return k.mapped; });
  if (mapped) co_return std::nullopt;
  std::optional<seam::failure> lost = co_await draw_map(i, std::move(l));
  co_return lost;
}

/// Those first that are connected; then those that may be; those last that were not there.
std::vector<url::place> cluster::whom_to_ask() const {
  return known_.with([](const known& k) {
    const auto rank = [](const node& n) { return n.way.main().listens() && !n.failed ? 0 : n.failed ? 2 : 1; };
    std::vector<url::place> places;
    for (const int wanted : {0, 1, 2}) {
      for (const auto& each : k.nodes) {
        if (rank(*each) == wanted) places.push_back(each->at);
      }
    }
    return places;
  });
}

/// Asks one node after the other. A failure: none of them has told us.
task<std::optional<seam::failure>> cluster::draw_map(io& i, limit l) {
  command ask(2);
  ask.add("CLUSTER").add("SLOTS");
  std::optional<seam::failure> why;
  for (const url::place& each : whom_to_ask()) {
    if (i.now() >= l.at() || l.stop().stop_requested()) break;
    std::optional<left_behind> nobody_minds;
    const errand question{&ask, 0, &nobody_minds};
    const limit soon(std::min(l.at(), later(i.now(), settings_.timeout)), l.stop());
    reply got = co_await run_at(i, at(each), question, soon);
    if (const std::string* const error = error_in(got, &ask)) {
      why = meaning_of(*error, settings_.prefix);
    } else if (auto* const failed = std::get_if<seam::failure>(&got)) {
      if (!why || !why->permanent()) why = std::move(*failed);
    } else if (const auto ranges = slots_in(std::get<value>(got), each); ranges && !ranges->empty()) {
      learn(*ranges);
      co_return std::nullopt;
    } else {
      why = seam::failure(errc::not_ready, "it is in no cluster yet (" + text_of(each) + ")");
    }
  }
  if (!why) why = seam::failure(errc::unreachable, "no time is left");
  why->text = "no node of the cluster says who has which slot: " + why->text;
  co_return why;
}

void cluster::learn(const std::vector<slot_range>& ranges) {
  std::vector<std::uint16_t> numbers;
  numbers.reserve(ranges.size());
  for (const slot_range& each : ranges) numbers.push_back(static_cast<std::uint16_t>(at(each.primary).number));
  decltype(known::route) route;
  route.fill(nobody);
  for (std::size_t n = 0; n < ranges.size(); ++n) {
    for (unsigned slot = ranges[n].first; slot <= ranges[n].last; ++slot) route[slot] = numbers[n];
  }
  const decltype(route) before = known_.with([&](known& k) {
    k.mapped = true;
    return std::exchange(k.route, route);
  });
  if (before == route) return;
  listener_.back();
  // What lay on a node that was replaced may be lost, and doubts about that one do not look there any more.
  std::set<std::uint16_t> heirs;
  for (std::size_t slot = 0; slot < route.size(); ++slot) {
    const std::uint16_t old = before[slot], heir = route[slot];
    if (old == heir || old == nobody || heir == nobody || heirs.contains(heir)) continue;
    if (std::find(route.begin(), route.end(), old) == route.end()) heirs.insert(heir);
  }
  for (const std::uint16_t heir : heirs) listener_.in_doubt(seam::shard(heir) + 1);
}

void cluster::learn(const redirection& moved) {
  const auto number = static_cast<std::uint16_t>(at(moved.to).number);
  known_.with([&](known& k) { k.route[moved.slot] = number; });
  draw_map_soon();
}

/// Not again at once: thousands may come at the same time.
void cluster::draw_map_soon() noexcept {
  if (ending_.stop_requested() || redrawing_.exchange(true)) return;
  try {
    loop_.start();
    tasks_.spawn(redraw_map());
  } catch (const std::exception&) {
    redrawing_ = false;
  }
}

task<void> cluster::redraw_map() {
  const struct ending {
    std::atomic<bool>& redrawing;
    ~ending() { redrawing = false; }
  } at_the_end{redrawing_};
  const limit l(later(loop_.now(), 2 * settings_.connect_timeout), ending_.get_token());
  const std::optional<seam::failure> why = co_await draw_map(loop_, l);
  (void)why;  // whoever has trouble asks for it again
  const wake over = co_await sleep(loop_, limit(later(loop_.now(), between_maps), ending_.get_token()));
  (void)over;
}

void cluster::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
  std::vector<node*> all;
  known_.with([&](known& k) {
    for (const auto& each : k.nodes) all.push_back(each.get());
  });
  for (node* const each : all) each->way.close();
}

}  // namespace holdfast::redis
