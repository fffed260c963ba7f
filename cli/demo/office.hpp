#pragma once
#include <cstdint>
#include <string>

struct sqlite3;

namespace holdfast::cli {

/// The ticket office: one train, its seats, and what was sold, in an SQLite table that all sellers share. It keeps its
/// own numbers together, but a sale is a read and a later write, and only a lock keeps two sales apart.
class ticket_office {
 public:
  explicit ticket_office(const std::string& file);
  ticket_office(const ticket_office&) = delete;
  ticket_office& operator=(const ticket_office&) = delete;
  ~ticket_office();

  void open_anew(int seats);  ///< nothing sold yet

  /// How many were sold; -1: the fence is older than one that was seen before.
  [[nodiscard]] int sold(std::uint64_t fence);
  /// Writes down that so many are sold now, and hands out a ticket. False: the fence is older than one that was seen
  /// before, and nothing was written.
  [[nodiscard]] bool sell(int number, int seller, std::uint64_t fence);
  [[nodiscard]] int tickets();  ///< handed out
  [[nodiscard]] int seats();

 private:
  void run(const std::string& sql);
  [[nodiscard]] int number(const std::string& sql);
  sqlite3* database_ = nullptr;
};

}  // namespace holdfast::cli
