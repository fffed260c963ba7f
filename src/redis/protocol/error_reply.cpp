#include "redis/protocol/error_reply.hpp"

#include <algorithm>
#include <string>

namespace holdfast::redis {

namespace {

struct meaning {
  std::string_view word;  ///< the first of the reply
  errc code;
  std::string_view cure;
};

constexpr std::string_view lacks_a_right = "the user lacks a right; docs/stores/redis.md has the ACL line it needs";

// Matched by the first word, because the rest differs between versions. No command with such a reply was carried out:
// our scripts begin with a shebang, so the server rejects them before their first effect.
constexpr meaning meanings[] = {
    {"ASK", errc::unsupported, "this is a node of a cluster: write redis+cluster://"},
    {"BUSY", errc::not_ready, "another script has been running for seconds; SCRIPT KILL ends it"},
    {"BUSYGROUP", errc::not_ready, ""},
    {"BUSYKEY", errc::not_ready, ""},
    {"CLUSTERDOWN", errc::not_ready,
     "the cluster is not complete; with cluster-require-full-coverage no the rest of it would go on"},
    {"CROSSSLOT", errc::unsupported, "this is a node of a cluster: write redis+cluster://"},
    {"DENIED", errc::denied, "Redis runs in protected mode: give it a password, or bind it to the right address"},
    {"EXECABORT", errc::not_ready, ""},
    {"FAILOVER", errc::not_ready, "the server is handing over to a replica"},
    {"IOERR", errc::not_ready, ""},
    {"INPROG", errc::not_ready, ""},
    {"INVALIDOBJ", errc::foreign, ""},
    {"LOADING", errc::not_ready, "the server is loading its data"},
    {"MASTERDOWN", errc::not_ready, "a replica without its primary; connect to the primary"},
    {"MISCONF", errc::not_ready,
     "the server cannot save its data and refuses writes; fix its disk, or set stop-writes-on-bgsave-error no"},
    {"MOVED", errc::unsupported, "this is a node of a cluster: write redis+cluster://"},
    {"NOADDR", errc::not_ready, ""},
    {"NOAUTH", errc::denied,
     "the server requires a password: redis://user:password@host, or password_file= in the URL"},
    {"NOGOODSLAVE", errc::not_ready, ""},
    {"NOMASTERLINK", errc::not_ready, ""},
    {"NOPERM", errc::denied, lacks_a_right},
    {"NOPROTO", errc::unsupported, ""},
    {"NOQUORUM", errc::not_ready, ""},
    {"NOREPLICAS", errc::not_ready, "fewer replicas are connected than min-replicas-to-write asks for"},
    {"NOSCRIPT", errc::not_ready, "the server forgets scripts as fast as they are loaded"},
    {"NOTBUSY", errc::not_ready, ""},
    {"NOTREADY", errc::not_ready, ""},
    {"OOM", errc::not_ready, "the server is full: raise maxmemory, or remove keys"},
    {"READONLY", errc::not_ready, "this server is a replica; connect to the primary"},
    {"REDIRECT", errc::not_ready, "the server is handing over to another one"},
    {"SYNTAX", errc::unsupported, ""},
    {"TRYAGAIN", errc::not_ready, "a slot of the cluster is moving"},
    {"UNBLOCKED", errc::not_ready, ""},
    {"UNKILLABLE", errc::not_ready, "a script that has written does not end; SHUTDOWN NOSAVE ends it"},
    {"UNSTABLE", errc::not_ready, ""},
    {"WRONGPASS", errc::denied, "the user or the password is wrong"},
    {"WRONGTYPE", errc::foreign,
     "a key of this lock holds something else; another program uses the name, choose another prefix="},
};

// Matched by the text after "ERR".
constexpr meaning known_errors[] = {
    {"ACL failure in script", errc::denied, lacks_a_right},
    {"The user executing the script", errc::denied, lacks_a_right},
    {"max number of clients", errc::not_ready, "raise maxclients, or open fewer connections"},
    {"DB index is out of range", errc::bad_url, "the server has no such database"},
    {"invalid DB index", errc::bad_url, "the server has no such database"},
    {"Script attempted to access keys that do not hash", errc::unsupported,
     "this is a node of a cluster: write redis+cluster://"},
    {"SELECT is not allowed in cluster mode", errc::bad_url, "a cluster has database 0 only"},
    {"AUTH", errc::denied, "the server has no password for the default user; leave it out of the URL"},
    {"Client sent AUTH", errc::denied, "the server has no password; leave it out of the URL"},
    {"unknown command", errc::unsupported, "Holdfast needs Redis 7.0 or Valkey 7.2, with Lua scripts"},
    {"Unknown Redis command", errc::unsupported, "Holdfast needs Redis 7.0 or Valkey 7.2"},
    {"Unknown command", errc::unsupported, "Holdfast needs Redis 7.0 or Valkey 7.2"},
    {"Unexpected engine", errc::unsupported, "Holdfast needs Redis 7.0 or Valkey 7.2"},
    {"Error compiling script", errc::unsupported, "Holdfast needs Redis 7.0 or Valkey 7.2"},
};

std::string with_cure(std::string_view error, std::string_view cure, std::string_view prefix) {
  std::string text = "the server says: ";
  text.append(error.substr(0, 512));
  if (cure.empty()) return text;
  text.append(" (").append(cure);
  if (cure == lacks_a_right && prefix.empty()) {
    text.append(
        "; the keys are the names of the locks, and others that begin with 'holdfast:'; does its ACL allow them?");
  } else if (cure == lacks_a_right) {
    text.append("; the keys begin with '").append(prefix).append("'; does its ACL allow them?");
  }
  return text.append(")");
}

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

}  // namespace

storage::failure meaning_of(std::string_view error, std::string_view prefix) {
  const std::string_view word = first_word(error);
  if (word == "HFKIND") return {errc::foreign, std::string(error.substr(word.size() + 1))};  // our own scripts say so
  if (word == "HFCLOCK") return {errc::not_ready, std::string(error.substr(word.size() + 1))};
  for (const meaning& m : meanings) {
    if (m.word == word) return {m.code, with_cure(error, m.cure, prefix)};
  }
  if (word == "ERR") {
    const std::string_view rest = error.substr(std::min<std::size_t>(error.size(), 4));
    for (const meaning& m : known_errors) {
      if (rest.starts_with(m.word)) return {m.code, with_cure(error, m.cure, prefix)};
    }
  }
  return {errc::not_ready, with_cure(error, "", prefix)};
}

bool is_noscript(std::string_view error) noexcept { return first_word(error) == "NOSCRIPT"; }

bool is_forbidden(std::string_view error) noexcept { return error.starts_with("NOPERM"); }

bool is_unknown_command(std::string_view error) noexcept {
  return error.starts_with("ERR unknown command") || error.starts_with("ERR Unknown command") ||
         error.starts_with("ERR unknown subcommand") || error.starts_with("ERR Unknown subcommand");
}

bool is_try_again(std::string_view error) noexcept { return first_word(error) == "TRYAGAIN"; }

bool is_wrong_server(std::string_view error) noexcept {
  const std::string_view word = first_word(error);
  return word == "READONLY" || word == "MASTERDOWN" || word == "REDIRECT" || word == "FAILOVER";
}

}  // namespace holdfast::redis
