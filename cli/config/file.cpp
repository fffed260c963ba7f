#include "config/file.hpp"

// toml++ asserts of a file what it checks a line later, and a file must not end us: "[~]" would. Nor may the compiler
// assume it, which it would be told to do with NDEBUG.
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

#include <holdfast/store.hpp>

#include "config/error.hpp"
#include "config/outside_quotes.hpp"
#include "config/trusted_file.hpp"
#include "text/duration.hpp"
#include "text/nearest.hpp"

namespace holdfast::cli {

namespace {

/// Reads the tables of one file, and knows where each value stands.
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
      const std::string what = is_quotable(name) ? "there is no key '" + name + "'" : "there is no such key";
      refuse(key.source(), what + instead_of(name, known));
    }
  }

  [[nodiscard]] located text(const toml::node& node, const std::string& key, const std::string& example) const {
    const auto* const got = node.as_string();
    if (got == nullptr || got->get().empty()) {
      refuse(node.source(), "'" + key + "' is a text; write " + key + " = \"" + example + "\"");
    }
    return {got->get(), at(node.source())};
  }

  [[nodiscard]] const toml::table& table(const toml::node& node, const std::string& key) const {
    if (!node.is_table()) refuse(node.source(), "'" + key + "' is a table; write [stores.NAME], and url below it");
    return *node.as_table();
  }

  [[nodiscard]] named_store read_store(std::string name, const toml::source_region& where,
                                       const toml::node& node) const {
    if (name.empty() || name.find(':') != std::string::npos) {
      refuse(where, "a store's name is not empty and has no colon: that is how it is told from a URL; choose another");
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
      if (!store.ttl) refuse(ttl->source(), "'ttl' is no duration; say 250ms, 10s or 5m");
    }
    return store;
  }

  /// The library reads it: it is an option of the URL.
  void add_password_file(std::string& url, const toml::node& node) const {
    const located file = text(node, "password_file", "/etc/holdfast/password");
    if (file.value.front() != '/') {
      refuse(node.source(), "'password_file' is a whole path, such as /etc/holdfast/password");
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
  if (const auto line = odd_line_outside_quotes(got->text)) {
    throw config_error(path + ":" + std::to_string(*line) +
                       ": this is no TOML: letters with accents, and other characters that are not ASCII, stand in "
                       "quotes, with a space before them");
  }
  try {
    return reader(path, got->others_may_read).read(toml::parse(got->text, path));
  } catch (const toml::parse_error& e) {
    // Its own words may quote the line, and that may have a password.
    throw config_error(path + ":" + std::to_string(e.source().begin.line) + ": this is no TOML (near column " +
                       std::to_string(e.source().begin.column) +
                       "); a line is key = \"text\", and a store begins with [stores.NAME]");
  }
}

}  // namespace holdfast::cli
