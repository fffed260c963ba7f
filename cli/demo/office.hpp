#pragma once
#include <sys/mman.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

struct sqlite3;

namespace holdfast::cli {

/// A folder for a demo. Gone at the end, with all that is in it.
class workplace {
 public:
  workplace() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-demo-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + name);
    path_ = name;
  }
  ~workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  workplace(const workplace&) = delete;
  workplace& operator=(const workplace&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Of names in a store: no other demo has it.
  [[nodiscard]] std::string prefix() const { return "demo/" + path_.substr(path_.rfind('-') + 1) + "/"; }

 private:
  std::string path_;
};

/// What the sellers and whoever watches them can all see: a page of shared memory.
class stage {
 public:
  static constexpr int nobody = -1;

  std::atomic<int> sold{0};                        ///< sales so far, of all
  std::atomic<int> failed{0};                      ///< sellers that gave up for another reason than that all is sold
  std::atomic<int> shall_freeze{nobody};           ///< this seller is to stand still with the lock in hand
  std::atomic<int> frozen{nobody};                 ///< it does
  std::atomic<bool> thaw{false};                   ///< it may go on
  std::atomic<std::int64_t> killed{0};             ///< when a seller was, on the boot clock
  std::atomic<std::int64_t> first_grant_after{0};  ///< when somebody got the lock for the first time after that
  std::atomic<std::uint64_t> frozen_fence{0};
  std::atomic<std::uint64_t> last_fence{0};
  std::atomic<int> refused{0};  ///< writes that the office refused

  /// Shared with the children; gone with the last of them. Throws std::system_error.
  [[nodiscard]] static stage& make() {
    void* page = ::mmap(nullptr, sizeof(stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    return *new (page) stage;
  }
};

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

/// How a seller works.
struct seller_rules {
  int number = 0;
  std::string office{};  ///< the file of the ticket office
  std::string store{};   ///< empty: sells without a lock
  std::string lock{};    ///< its name
  bool fixed = false;    ///< with a lease of one second that is not renewed
};

/// How long the store keeps the lock of a seller that is gone; most stores notice it earlier or at its end.
inline constexpr std::chrono::seconds ttl_of_a_seller{2};

/// Sells until all is sold, in a process of its own. Returns its exit code.
[[nodiscard]] int sell_tickets(const seller_rules&, stage&);

/// Somebody in the office that is kept open: holds a name for a while, lets go, and comes again.
struct clerk {
  enum class kind { seller, reader, cashier };
  kind does = kind::seller;
  int number = 0;
  std::string store{};
  std::string name{};    ///< the lock of sellers and readers; the semaphore of cashiers
  std::string office{};  ///< of sellers: the file of the ticket office
  std::chrono::milliseconds holds{1'500};
  std::chrono::milliseconds pauses{0};  ///< before it comes again
};

inline constexpr unsigned tills = 2;  ///< the permits of the cashiers' semaphore
inline constexpr int seats_of_a_train = 500;

/// In a process of its own, until nobody writes to that pipe any more. A store that fails is asked again. Returns the
/// exit code.
[[nodiscard]] int work_until_closing(const clerk&, int closing, stage&);

/// Processes of ours. They go with us.
class staff {
 public:
  staff() = default;
  staff(const staff&) = delete;
  staff& operator=(const staff&) = delete;
  ~staff();  ///< whoever is left is killed
  /// Does the work in a process of its own, and exits with what it returns. Only while this process has no threads.
  void hire(const std::function<int()>& work);
  void kill(std::size_t number, int signal) const;
  /// True: all have ended. Looks, and does not wait.
  [[nodiscard]] bool all_ended();

 private:
  std::vector<pid_t> all_;
};

}  // namespace holdfast::cli
