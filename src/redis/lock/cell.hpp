#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "redis/protocol/keys.hpp"
#include "storage/cell.hpp"

namespace holdfast::redis {

struct session;

/// A number at the server. Its key lies beside that of the lock of the same name.
class cell final : public storage::cell {
 public:
  cell(session&, std::string_view name);

  runtime::task<storage::answer<storage::reading>> get(runtime::io&, limit) override;
  runtime::task<storage::answer<std::uint64_t>> put(runtime::io&, std::uint64_t seen, storage::change, limit) override;
  runtime::task<runtime::wake> changed(runtime::io&, storage::reading seen, limit) override;

 private:
  runtime::task<std::optional<storage::milliseconds>> watch(runtime::io&, storage::reading seen, limit);
  session& session_;
  const cell_keys keys_;
  const bool bad_name_;
};

}  // namespace holdfast::redis
