#include "demo/office.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace holdfast::cli {

ticket_office::ticket_office(const std::string& file) {
  if (sqlite3_open(file.c_str(), &database_) != SQLITE_OK) throw std::runtime_error("cannot open " + file);
  sqlite3_busy_timeout(database_, 20'000);
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
      "CREATE TABLE IF NOT EXISTS train(seats INTEGER, sold INTEGER, fence INTEGER);"
      "CREATE TABLE IF NOT EXISTS ticket(number INTEGER, seller INTEGER, fence INTEGER)");
}

ticket_office::~ticket_office() { sqlite3_close(database_); }

void ticket_office::run(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string("the ticket office: ") + sqlite3_errmsg(database_));
  }
}

int ticket_office::number(const std::string& sql) {
  int result = -1;
  const auto take = [](void* to, int, char** values, char**) {
    *static_cast<int*>(to) = std::stoi(values[0]);
    return 0;
  };
  if (sqlite3_exec(database_, sql.c_str(), take, &result, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string("the ticket office: ") + sqlite3_errmsg(database_));
  }
  return result;
}

void ticket_office::open_anew(int seats) {
  run("BEGIN IMMEDIATE; DELETE FROM train; DELETE FROM ticket; INSERT INTO train VALUES(" + std::to_string(seats) +
      ", 0, 0); COMMIT");
}

// The fence is checked on reads, too: a reader that is late would go on to write what is not true any more.
int ticket_office::sold(std::uint64_t fence) {
  const std::string mine = std::to_string(fence);
  return number("UPDATE train SET fence = " + mine + " WHERE fence <= " + mine + " RETURNING sold");
}

bool ticket_office::sell(int number_sold, int seller, std::uint64_t fence) {
  const std::string mine = std::to_string(fence);
  run("BEGIN IMMEDIATE");
  run("UPDATE train SET sold = " + std::to_string(number_sold) + ", fence = " + mine + " WHERE fence <= " + mine);
  const bool admitted = sqlite3_changes(database_) == 1;
  if (admitted) {
    run("INSERT INTO ticket VALUES(" + std::to_string(number_sold) + ", " + std::to_string(seller) + ", " + mine + ")");
  }
  run("COMMIT");
  return admitted;
}

int ticket_office::tickets() { return number("SELECT count(*) FROM ticket"); }

int ticket_office::seats() { return number("SELECT seats FROM train"); }

}  // namespace holdfast::cli
