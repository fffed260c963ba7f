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

/// A temporary directory, removed with its content at the end.
class demo_folder {
 public:
  demo_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-demo-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + name);
    path_ = name;
  }
  ~demo_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  demo_folder(const demo_folder&) = delete;
  demo_folder& operator=(const demo_folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// A prefix for lock names that no other demo uses.
  [[nodiscard]] std::string prefix() const { return "demo/" + path_.substr(path_.rfind('-') + 1) + "/"; }

 private:
  std::string path_;
};

/// Shared memory for the sellers and their parent.
class shared_progress {
 public:
  static constexpr int none = -1;

  std::atomic<int> sold{0};                        ///< by all sellers
  std::atomic<int> failed{0};                      ///< sellers that ended with an error
  std::atomic<int> shall_freeze{none};             ///< this seller pauses while it holds the lock
  std::atomic<int> frozen{none};                   ///< it is pausing
  std::atomic<bool> thaw{false};                   ///< it may continue
  std::atomic<std::int64_t> killed{0};             ///< when a seller was killed, on the boot clock
  std::atomic<std::int64_t> first_grant_after{0};  ///< the first acquisition after that
  std::atomic<std::uint64_t> frozen_fence{0};
  std::atomic<std::uint64_t> last_fence{0};
  std::atomic<int> refused{0};  ///< writes that the office rejected

  /// Shared with forked children. Throws std::system_error.
  [[nodiscard]] static shared_progress& make() {
    void* page = ::mmap(nullptr, sizeof(shared_progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    return *new (page) shared_progress;
  }
};

/// The ticket office: a train, its seats and the tickets sold, in an SQLite database that all sellers share. Each
/// transaction is atomic, but a sale is a read and a later write, which only a lock can protect.
class ticket_office {
 public:
  explicit ticket_office(const std::string& file);
  ticket_office(const ticket_office&) = delete;
  ticket_office& operator=(const ticket_office&) = delete;
  ~ticket_office();

  void open_anew(int seats);  ///< starts with nothing sold

  /// Returns the number of tickets sold, or -1 if the fence is outdated.
  [[nodiscard]] int sold(std::uint64_t fence);
  /// Stores the new number of tickets sold and issues a ticket. Returns false and writes nothing if the fence is
  /// outdated.
  [[nodiscard]] bool sell(int number, int seller, std::uint64_t fence);
  [[nodiscard]] int tickets();  ///< issued
  [[nodiscard]] int seats();

 private:
  void run(const std::string& sql);
  [[nodiscard]] int number(const std::string& sql);
  sqlite3* database_ = nullptr;
};

/// The settings of a seller.
struct seller_rules {
  int number = 0;
  std::string office{};  ///< the file of the ticket office
  std::string store{};   ///< empty: sells without a lock
  std::string lock{};    ///< name of the lock
  bool fixed = false;    ///< uses a lease of one second without renewal
};

/// How long a killed seller may block the others on a store that does not notice its death.
inline constexpr std::chrono::seconds ttl_of_a_seller{2};

/// Runs in its own process until all seats are sold. Returns the exit code.
[[nodiscard]] int sell_tickets(const seller_rules&, shared_progress&);

/// A worker of `demo --keep`: holds a name for a while, releases it, and starts again.
struct clerk {
  enum class kind { seller, reader, cashier };
  kind does = kind::seller;
  int number = 0;
  std::string store{};
  std::string name{};    ///< the lock of sellers and readers; the semaphore of cashiers
  std::string office{};  ///< sellers only: the file of the ticket office
  std::chrono::milliseconds holds{1'500};
  std::chrono::milliseconds pauses{0};  ///< between two holds
};

inline constexpr unsigned tills = 2;  ///< the permits of the cashiers' semaphore
inline constexpr int seats_of_a_train = 500;

/// Runs in its own process until all writers of the pipe `closing` are gone. Retries if the store fails. Returns the
/// exit code.
[[nodiscard]] int work_until_closing(const clerk&, int closing, shared_progress&);

/// Child processes that end with this object.
class child_processes {
 public:
  child_processes() = default;
  child_processes(const child_processes&) = delete;
  child_processes& operator=(const child_processes&) = delete;
  ~child_processes();  ///< kills those that are left
  /// Runs `work` in a child and exits with its result. This process must not have threads.
  void start(const std::function<int()>& work);
  void kill(std::size_t number, int signal) const;
  /// Returns whether all have ended. Does not wait.
  [[nodiscard]] bool all_ended();

 private:
  std::vector<pid_t> all_;
};

}  // namespace holdfast::cli
