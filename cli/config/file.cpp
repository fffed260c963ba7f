#include "config/file.hpp"

// toml++ asserts conditions on the input ("[~]" violates one) and checks them a line later. With NDEBUG, TOML_ASSERT
// would let the compiler assume them.
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <holdfast/store.hpp>
#include <system_error>

#include "process/io.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

constexpr std::size_t max_size = 1 << 20;

[[noreturn]] void unreadable(const std::string& path, int why) {
  throw config_error(path + ": cannot be read: " + std::generic_category().message(why) +
                     "; fix that, or give the store by its URL, which needs no file");
}

void check(const std::string& path, const struct stat& is) {
  if (!S_ISREG(is.st_mode)) throw config_error(path + ": is not a regular file; replace or remove it");
  if (is.st_uid != ::geteuid() && is.st_uid != 0) {
    throw config_error(path + ": belongs to user " + std::to_string(is.st_uid) +
                       ", who could change where your locks are; run chown to give it to you or root");
  }
  if ((is.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw config_error(path + ": other users can write to it and change where your locks are; run: chmod go-w " + path);
  }
}

}  // namespace

std::optional<trusted_text> read_trusted(const std::string& path) {
  // O_NONBLOCK: a FIFO without a writer must not block us.
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    unreadable(path, errno);
  }
  struct stat is{};
  if (::fstat(file.get(), &is) != 0) unreadable(path, errno);
  check(path, is);
  trusted_text got{.others_may_read = (is.st_mode & (S_IRGRP | S_IROTH)) != 0};
  char part[4096];
  while (const ssize_t n = ::read(file.get(), part, sizeof part)) {
    if (n < 0) unreadable(path, errno);
    got.text.append(part, static_cast<std::size_t>(n));
    if (got.text.size() > max_size) throw config_error(path + ": is longer than a megabyte; is this the right file?");
  }
  return got;
}

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Returns whether a quoted string begins here. In doubt, for example after a second = in the line, the quote must
/// follow a space.
bool begins_quoted(std::string_view toml, std::size_t at) noexcept {
  if (toml[at] != '"' && toml[at] != '\'') return false;
  std::string_view line = toml.substr(0, at);
  line.remove_prefix(line.rfind('\n') + 1);
  while (!line.empty() && (line.back() == '[' || line.back() == '{')) line.remove_suffix(1);
  if (line.empty() || line.back() == ' ' || line.back() == '\t' || line.back() == ',') return true;
  const std::size_t equals = line.find('=');
  return line.back() == '.' ? equals == std::string_view::npos : equals == line.size() - 1;
}

/// The length of the quote: 1, or 3 for a multi-line string.
std::size_t quote_at(std::string_view text) noexcept {
  return text.starts_with(R"(""")") || text.starts_with("'''") ? 3 : 1;
}

/// The length of the quoted string including its quotes. An unterminated one extends to the end of the line, or of the
/// text.
std::size_t length_of_quoted(std::string_view text) noexcept {
  const std::size_t quote = quote_at(text);
  const std::string_view end = text.substr(0, quote);
  for (std::size_t at = quote; at < text.size(); ++at) {
    if (quote == 1 && text[at] == '\n') return at;
    if (text[at] == '\\' && text.front() == '"') {
      ++at;
    } else if (text.substr(at).starts_with(end)) {
      return at + quote;
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> unquoted_non_ascii_line(std::string_view toml) noexcept {
  // After a multi-line string starts, everything is checked.
  const std::size_t of_several_lines = toml.find(R"(""")");
  for (std::size_t at = toml.starts_with(byte_order_mark) ? byte_order_mark.size() : 0; at < toml.size();) {
    const std::string_view rest = toml.substr(at);
    if (rest.front() == '#' && at < of_several_lines) {
      at += std::min(rest.find('\n'), rest.size());
    } else if (begins_quoted(toml, at) && at < of_several_lines) {
      at += length_of_quoted(rest);
    } else if (static_cast<unsigned char>(rest.front()) >= 0x80) {
      return 1 + static_cast<std::size_t>(std::ranges::count(toml.substr(0, at), '\n'));
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

namespace {

/// Reads the tables of one file and reports errors with their lines.
class reader {
 public:
  reader(const std::string& path, bool others_may_read) : path_(path), others_may_read_(others_may_read) {}

  config_file read(const toml::table& all) const {
    config_file file{.path = path_};
    check_keys(all, {"default", "stores"});
    if (const toml::node* const given = all.get("default")) file.default_store = text(*given, "default", "prod");
    if (const toml::node* const stores = all.get("stores")) {
      for (const auto& [name, node] : table(*stores, "stores")) {
        file.stores.push_back(read_store(std::string(name.str()), name.source(), node));
      }
    }
    return file;
  }

 private:
  [[nodiscard]] std::string at(const toml::source_region& where) const {
    return path_ + ":" + std::to_string(where.begin.line);
  }

  [[noreturn]] void refuse(const toml::source_region& where, const std::string& why) const {
    throw config_error(at(where) + ": " + why);
  }

  void check_keys(const toml::table& all, const std::vector<std::string>& known) const {
    for (const auto& [key, node] : all) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string what = is_quotable(name) ? "unknown key '" + name + "'" : "unknown key";
      refuse(key.source(), what + did_you_mean_or_list(name, known));
    }
  }

  [[nodiscard]] located text(const toml::node& node, const std::string& key, const std::string& example) const {
    const auto* const got = node.as_string();
    if (got == nullptr || got->get().empty()) {
      refuse(node.source(), "'" + key + "' must be a string; write " + key + " = \"" + example + "\"");
    }
    return {got->get(), at(node.source())};
  }

  [[nodiscard]] const toml::table& table(const toml::node& node, const std::string& key) const {
    if (!node.is_table()) refuse(node.source(), "'" + key + "' must be a table; write [stores.NAME], and url below it");
    return *node.as_table();
  }

  [[nodiscard]] named_store read_store(std::string name, const toml::source_region& where,
                                       const toml::node& node) const {
    if (name.empty() || name.find(':') != std::string::npos) {
      refuse(where, "a store name must not be empty or contain a colon, which marks a URL; choose another");
    }
    const toml::table& all = table(node, "stores." + name);
    check_keys(all, {"url", "password_file", "ttl"});
    const toml::node* const url = all.get("url");
    if (url == nullptr) refuse(where, "the store '" + name + "' has no url; add url = \"dir:/PATH\" or another");
    named_store store{.name = std::move(name), .url = text(*url, "url", "redis://host")};
    store.password_is_readable = others_may_read_ && shown_url(store.url.value) != store.url.value;
    if (const toml::node* const file = all.get("password_file")) add_password_file(store.url.value, *file);
    if (const toml::node* const ttl = all.get("ttl")) {
      store.ttl_as_written = text(*ttl, "ttl", "30s");
      store.ttl = parse_duration(store.ttl_as_written.value);
      if (!store.ttl) refuse(ttl->source(), "'ttl' is not a duration; use for example 250ms, 10s or 5m");
    }
    return store;
  }

  /// Becomes an option of the URL; the library reads the file.
  void add_password_file(std::string& url, const toml::node& node) const {
    const located file = text(node, "password_file", "/etc/holdfast/password");
    if (file.value.front() != '/') {
      refuse(node.source(), "'password_file' must be an absolute path, such as /etc/holdfast/password");
    }
    if (url.find("://") == std::string::npos) {
      refuse(node.source(), "'password_file' is for a server; this store has no password; remove the line");
    }
    url += url.find('?') == std::string::npos ? '?' : '&';
    url += "password_file=";
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-~";
    for (const char c : file.value) {
      if (plain.find(c) != std::string_view::npos) {
        url += c;
        continue;
      }
      const auto byte = static_cast<unsigned char>(c);
      constexpr std::string_view digits = "0123456789ABCDEF";
      url += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
  }

  const std::string& path_;
  const bool others_may_read_;
};

}  // namespace

std::optional<config_file> read_config_file(const std::string& path) {
  const std::optional<trusted_text> got = read_trusted(path);
  if (!got) return std::nullopt;
  if (const auto line = unquoted_non_ascii_line(got->text)) {
    throw config_error(
        path + ":" + std::to_string(*line) +
        ": invalid TOML: accented letters and other non-ASCII characters must be in quotes, with a space before them");
  }
  try {
    return reader(path, got->others_may_read).read(toml::parse(got->text, path));
  } catch (const toml::parse_error& e) {
    // The message of toml++ may quote the line, which may contain a password.
    throw config_error(path + ":" + std::to_string(e.source().begin.line) + ": invalid TOML (near column " +
                       std::to_string(e.source().begin.column) +
                       "); a line is key = \"text\", and a store begins with [stores.NAME]");
  }
}

}  // namespace holdfast::cli
