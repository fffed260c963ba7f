#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "redis/keys.hpp"
#include "store/cell.hpp"

namespace holdfast::redis {

class client;

/// A number at the server, in a key of its own next to that of the lock.
class cell final : public seam::cell {
 public:
  cell(client&, std::string_view name);

  runtime::task<seam::answer<seam::reading>> get(runtime::io&, limit) override;
  runtime::task<seam::answer<std::uint64_t>> put(runtime::io&, std::uint64_t seen, seam::change, limit) override;
  runtime::task<runtime::wake> changed(runtime::io&, seam::reading seen, limit) override;

 private:
  runtime::task<std::optional<seam::milliseconds>> watch(runtime::io&, seam::reading seen, limit);
  client& client_;
  const cell_keys keys_;
  const bool bad_name_;
};

}  // namespace holdfast::redis
