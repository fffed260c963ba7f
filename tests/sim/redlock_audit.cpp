#include "sim/redlock_audit.hpp"

#include "redis/protocol/owner.hpp"
#include "redis/protocol/script.hpp"

namespace holdfast::sim {

namespace scripts = redis::scripts;

namespace {

/// Returns empty text for a claim of another library.
std::string claim_of_ours(const std::string& owner) { return owner.size() > 33 ? owner.substr(17, 16) : std::string(); }

}  // namespace

void redlock_audit::ran(std::size_t server, const redis_server::script_run& r) {
  // A client would treat this as a server that does not vote and retry forever.
  if (r.reply.is(redis::value::kind::error) && r.reply.text.starts_with("ERR")) {
    world_.violate("I12: a script fails: " + r.reply.text);
  }
  if (world_.trace) world_.tell(told(server, r));
  check_who_changed_it(r);
  note_break(r);
  const bool renewed = r.sha == scripts::renew.sha && r.after && r.after->value == r.args.at(0);
  if (renewed) renewed_[r.args[0].substr(17, 16)].insert(server);
}

/// For readers of a trace: claims by their first characters, and the number of the attempt.
std::string redlock_audit::told(std::size_t server, const redis_server::script_run& r) {
  const auto claim = [](const std::string& owner) {
    return owner.size() > 33 ? owner.substr(17, 4) + owner.substr(33, 3) : owner;
  };
  const bool mends = r.args.size() > 2;
  const char* const name = r.sha == scripts::vote.sha        ? "vote"
                           : r.sha == scripts::raise.sha     ? mends ? "mend" : "raise"
                           : r.sha == scripts::withdraw.sha  ? "withdraw"
                           : r.sha == scripts::renew.sha     ? "renew"
                           : r.sha == scripts::take_away.sha ? "take_away"
                                                             : "another script";
  return "  server " + std::to_string(server) + ": " + name + " of " + r.keys.at(0) + " by " + claim(r.args.at(0)) +
         "; held by " + (r.before ? claim(r.before->value) : "nobody") + ", then by " +
         (r.after ? claim(r.after->value) : "nobody");
}

/// I6: a vote changes only for its owner, and ends only by withdrawal or by a break of that owner. Only a free vote is
/// given, and no renewal gives one.
void redlock_audit::check_who_changed_it(const redis_server::script_run& r) {
  if (!r.before) {
    const bool may_give = r.sha == scripts::vote.sha || (r.sha == scripts::raise.sha && r.args.size() > 2);
    if (!r.after) return;
    if (!may_give) world_.violate("I6: a vote was given without a request");
    if (r.after->value != r.args.at(0))
      world_.violate("I6: a vote was given to another claim than the one that requested it");
    return;
  }
  const bool owners = !r.args.empty() && r.args[0] == r.before->value;
  if (owners && r.sha == scripts::withdraw.sha) return;
  const std::string whose = claim_of_ours(r.before->value);
  const bool meant = r.sha == scripts::take_away.sha && !whose.empty() && whose == r.args.at(3);
  if (meant && r.after) world_.violate("I6: a vote was taken by force and is still there");
  if (meant) return;
  if (!r.after || r.after->value != r.before->value) return world_.violate("I6: a vote was taken from its owner");
  if (r.after->ends != r.before->ends && !owners)
    world_.violate("I6: a vote was changed by another claim than its owner");
  if (r.after->ends < r.before->ends) world_.violate("I6: a vote was cut short");
}

/// A claim that has not received the replies about its votes yet may lose them and get others.
void redlock_audit::note_break(const redis_server::script_run& r) {
  const bool taken = r.sha == scripts::take_away.sha && r.before && !r.after;
  if (taken) taken_from_[r.args.at(1)] = claim_of_ours(r.before->value);
  const bool given = r.sha == scripts::vote.sha && !r.before && r.after;
  if (given) broken_.erase(claim_of_ours(r.after->value));
}

void redlock_audit::broke(const storage::owner_id& id) {
  const auto from = taken_from_.find(redis::sixteen(id.high, id.low));
  if (from != taken_from_.end()) broken_.insert(from->second);
}

void redlock_audit::asked_for(const storage::owner_id& owner) {
  const std::string claim = redis::sixteen(owner.high, owner.low);
  renewed_[claim].clear();
  renews_in_vain_.erase(claim);
  if (broken_.contains(claim)) renews_in_vain_.insert(claim);
}

/// I12: a client gets the answer that a majority gave to its request, and a broken lock is not renewed again.
void redlock_audit::heard_of(const storage::owner_id& owner) {
  const std::string claim = redis::sixteen(owner.high, owner.low);
  if (renews_in_vain_.contains(claim) && broken_.contains(claim)) {
    world_.violate("I12: a lease was renewed after a client got the reply that it was broken");
  }
  if (renewed_[claim].size() > servers_ / 2) return;
  world_.violate("I12: a client got a renewal without a majority");
}

}  // namespace holdfast::sim
