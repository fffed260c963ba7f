#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "redis/cluster_map.hpp"
#include "redis/link.hpp"
#include "redis/slots.hpp"
#include "redis/wire.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"
#include "runtime/nursery.hpp"

namespace holdfast::redis {

/// The link to a cluster: a wire to each node in use. A command goes where the slot of its key is, as far as we know,
/// and on from there as the nodes say. Who has which slot is asked again when a node sends us elsewhere, or is not
/// there.
class cluster final : public link {
 public:
  /// Throws seam::failure when a file that it needs cannot be used; connects when first used.
  cluster(const settings&, const identity&, runtime::loop&, listener&);

  runtime::task<reply> call(runtime::io&, const command&, limit, std::optional<left_behind>&) override;
  void follow(const left_behind&, const command&) noexcept override;
  [[nodiscard]] seam::shard shard_of(std::uint16_t slot) const noexcept override;
  [[nodiscard]] bool listens(const std::string& key) const noexcept override;
  runtime::task<std::optional<seam::failure>> listen(runtime::io&, const std::string& key, limit) override;
  void post(const command&) override;
  /// The primaries.
  runtime::task<seam::answer<std::vector<std::string>>> parts(runtime::io&, limit) override;
  [[nodiscard]] link& part(const std::string& name) override;
  void close() noexcept override;

 private:
  /// Never goes before the cluster does.
  struct node final : private listener {
    node(net::url::place, std::size_t number, const settings&, const identity&, runtime::loop&, listener&);
    [[nodiscard]] seam::shard shard() const noexcept { return number + 1; }
    const net::url::place at;
    const std::size_t number;
    listener& all_nodes;
    wire way;
    std::atomic<bool> failed{false};   // the last call got no answer
    std::atomic<bool> probing{false};  // and one finds out whether it is back

   private:
    void pushed(std::string_view message) override { all_nodes.pushed(message); }
    void missed() noexcept override { all_nodes.missed(); }
    void in_doubt(seam::shard) noexcept override { all_nodes.in_doubt(shard()); }
    void back() noexcept override { all_nodes.back(); }
  };
  static constexpr std::uint16_t nobody = 0xffff;
  struct known {
    known() { route.fill(nobody); }
    std::vector<std::unique_ptr<node>> nodes;
    std::array<std::uint16_t, slots_of_a_cluster> route;  // the number of the node that has it
    bool mapped = false;
  };
  /// What is to be done at one node: a command, or none, which is to listen.
  struct errand {
    const command* what;
    std::uint16_t slot;
    std::optional<left_behind>* left;
  };

  [[nodiscard]] node* has(std::uint16_t slot) const noexcept;  ///< null: we do not know
  [[nodiscard]] node& at(const net::url::place&);
  runtime::task<reply> run(runtime::io&, errand, limit);
  runtime::task<reply> run_at(runtime::io&, node&, errand, limit);
  runtime::task<reply> run_at_once(runtime::io&, node&, errand, limit);
  runtime::task<node*> find_heir(runtime::io&, const node& of, errand, limit);
  runtime::task<std::optional<seam::failure>> make_sure_of_map(runtime::io&, limit);
  runtime::task<std::optional<seam::failure>> draw_map(runtime::io&, limit);
  void learn(const std::vector<slot_range>&);
  void learn(const redirection&);
  [[nodiscard]] std::vector<net::url::place> whom_to_ask() const;
  void draw_map_soon() noexcept;
  runtime::task<void> redraw_map();
  runtime::task<void> introduce(bool already);

  const settings settings_;
  const identity me_;
  runtime::loop& loop_;
  listener& listener_;
  std::stop_source ending_;
  runtime::guarded<known> known_;
  std::atomic<bool> introduced_{false};
  std::atomic<bool> redrawing_{false};
  runtime::nursery tasks_{loop_};
};

}  // namespace holdfast::redis
