/* No two grants: a claim that is inside, before its own deadline, owns K at the server.

   One lock, N claims (a claim is one owner id; a process that comes back is a new claim). Time goes in ticks, for all.
   Every request, answer and push may be delayed for ever, lost, or overtaken by any other. A request whose sender gave up
   may be executed later ("zombie"). A crash is a claim that takes no further step: no step is forced here. The queue is a
   set, and a hand-over takes any member of it or skips it, so every order and every death is covered.

   The deadline after a push (src/redis/lock/claim.cpp, take_message). The poll that said no was sent at `sent`, and the server's
   clock showed s0; the push says s1. The grant is taken to be made at sent + (s1 - s0). If s1 < s0, or that lies in the
   future, or nothing is left of the claim ttl, the client polls instead. Only differences matter, so the model keeps
     o   (how old the sample was for us) - (how old by the server's clock): the way of the poll, less the steps of the clock
     a   how long ago it was sent, up to CT
     m   how old the push is, by the server's clock
   and the grant is o + m old. A push whose fence is not above the one in a later "no" is dropped.

   The server's clock steps, STEPS times, by 1 or 2 ticks back; K lives longer by that, as keys of Redis do. With FORWARD it
   steps forward instead, and K is left alone by that (in truth its life is cut: a forward step of the server's clock ends
   leases before their time whatever the client does, and only fences help).

   With BREAK an operator that saw the fence of a grant takes the lock by force, any time later and perhaps twice (break_lock.lua).
   Its holder has lost it from then on, whatever it believes: only fences protect against that one. No other claim may lose it.

   Proven, for the bounds below: the invariant, with any steps back; with a step forward if every push is read in the tick
   in which it was sent (PROMPT). Not proven, and false: a step forward while a client stands still, or while a push is on
   its way (the twin FORWARD). Left out: clocks that differ in rate. The hundredth that the client takes off s1 - s0 and off
   every ttl is for those; a tick is too coarse for it. */
#ifndef N
#define N 2
#endif
#ifndef TTL
#define TTL 2
#endif
#ifndef CT
#define CT 1                          /* the claim ttl in the entry of claim 0; the others are fixed leases: theirs is TTL */
#endif
#ifndef STEPS
#define STEPS 0
#endif
#define IDLE 0
#define WAIT 1
#define HOLD 2
#define GONE 3                        /* release sent, answer open */
#define DONE 4
#define NONE 0
#define POLL 1
#define PYES 2
#define PNO 3
#define RENEW 4
#define RYES 5
#define RNO 6
#define REL 7
#define RDONE 8

#define LOW 2                         /* o and m are kept with 2 added: -2 is 0 */
#define TOP(c) (CTOF(c) + STEPS + LOW)   /* of no use, whatever the clock does */

byte owner, rem;                      /* K: 0 free, else claim + 1; its remaining life */
byte st[N], rq[N];
byte r[N];                            /* how long ago the open request was sent, up to TTL */
byte w[N];                            /* HOLD: what is left until our deadline */
byte o[N], o2[N], a[N];               /* the sample, 0: none; the one in an open "no" */
byte m[N];                            /* a push on its way */
byte p[N];                            /* 0 none, 1 on its way, 2 its fence is not above the one in the open "no" */
bool inq[N], zp[N], zr[N], zl[N];     /* in the queue; zombies: poll, renewal, release */
byte steps;
#ifdef BREAK
byte seen;                            /* 0 none, else claim + 1: the fence of its grant was seen */
bool stale;                           /* fences were minted since */
bool broken[N];                       /* its grant was taken by force, and it may not know; with CALM, where no old poll gets it another */
byte calls;
#define BROKEN(c) broken[c]
#else
#define BROKEN(c) false
#endif

#define CTOF(c) ((c) == 0 -> CT : TTL)
#define inside(c) (st[c] == HOLD && w[c] > 0 && !BROKEN(c))
#define OWNS(c) (owner == c + 1 || BROKEN(c))
#define min(x, y) ((x) < (y) -> (x) : (y))
#if N > 2
#define NO_WAITER (!inq[0] && !inq[1] && !inq[2])
#else
#define NO_WAITER (!inq[0] && !inq[1])
#endif
#ifdef PUSHES                         /* only what concerns pushes: no renewals; of zombies polls, one at a time */
#if N > 2
#define ZOMBIE (!zp[0] && !zp[1] && !zp[2])
#else
#define ZOMBIE (!zp[0] && !zp[1])
#endif
#define ANYZ false
#else
#define ZOMBIE true
#define ANYZ true
#endif

#ifdef TWIN_FUTURE
#define NOT_FUTURE true
#else
#define NOT_FUTURE (j >= 2 * LOW)
#endif
#define NOT_BEFORE (j - 2 * LOW <= a[i])         /* s1 is not before s0 */

#ifdef BREAK
inline setk(c, life) { owner = c + 1; rem = life; stale = (seen != 0); broken[c] = false }
#else
inline setk(c, life) { owner = c + 1; rem = life }
#endif
inline send(i, what) { rq[i] = what; r[i] = 0 }
inline unsend(i) { rq[i] = NONE; r[i] = 0; o2[i] = 0 }
inline unpush(c) { p[c] = 0; m[c] = 0 }
inline push(c) {                      /* two on their way: one of them is lost, or comes too early to matter */
  if
  :: p[c] != 0
  :: p[c] = 1; m[c] = LOW
  fi
}
inline forget(c) { o[c] = 0; a[c] = 0 }

/* hand.part.lua: K is free; it goes to a waiter that receives the push, for the claim ttl in that waiter's own entry */
inline hand(me) {
  do
  :: true ->
     if
     :: inq[0] -> j = 0
     :: inq[1] -> j = 1
#if N > 2
     :: inq[2] -> j = 2
#endif
     :: NO_WAITER -> owner = 0; rem = 0; break
     fi;
     inq[j] = false;
     if
     :: j == me -> setk(j, CTOF(j)); break
#ifdef TWIN_OWN_TTL
     :: j != me -> setk(j, CT); push(j); break   /* for the claim ttl of the releasing claim */
#else
     :: j != me -> setk(j, CTOF(j)); push(j); break
#endif
     :: j != me                       /* not subscribed */
#ifdef TWIN_PUSH_BEFORE_SET
     :: j != me -> push(j); owner = 0; rem = 0; break   /* the script ends in between */
#endif
     fi
  od;
  j = 0
}
inline extend(life) { rem = (rem < life -> life : rem) }      /* PEXPIRE ... GT */
inline acquire(i) {
  if
  :: owner == i + 1 ->
#ifndef TWIN_ADOPT_AS_IS
     extend(TTL);
#endif
     yes = true
  :: owner == 0 && NO_WAITER -> setk(i, TTL); yes = true
  :: owner == 0 && !NO_WAITER ->
     inq[i] = true; hand(i); yes = (owner == i + 1);
     if :: yes -> extend(TTL) :: else fi
  :: else -> inq[i] = true; yes = false
  fi
}
inline release(i) {
  if
#ifdef TWIN_RELEASE_OF_ANY_OWNER
  :: owner != 0 -> assert(!inside(owner - 1)); inq[i] = false; hand(N)
#else
  :: owner == i + 1 -> hand(N)
#endif
  :: owner == 0 -> inq[i] = false; hand(N)
  :: else -> inq[i] = false
  fi
}
inline renew(i) {
  if
  :: owner == i + 1 ->
#ifdef TWIN_SHORTEN
     if :: rem = TTL :: rem = 1 fi;
#else
     extend(TTL);
#endif
     yes = true
  :: else -> yes = false
  fi
}
#ifdef BREAK
inline break_lock() {
  if
#ifdef TWIN_BREAK_ANY_OWNER
  :: owner != 0 ->                    /* the fence is not compared */
#else
  :: owner == seen && !stale ->
#endif
     broken[seen - 1] = true;
     assert(!inside(owner - 1));
#ifdef TWIN_BREAK_AND_STAY
     c = owner; hand(N); owner = c; c = 0; rem = (rem == 0 -> 1 : rem)   /* the key is handed on, and stays the loser's */
#else
     hand(N)
#endif
  :: else
  fi
}
#endif
inline give_up(i) {                   /* the open request is lost on the way, or will be executed some time */
  if
#ifndef CALM
  :: rq[i] == POLL -> if :: ZOMBIE -> zp[i] = true :: skip fi
#endif
  :: rq[i] == RENEW -> if :: ANYZ -> zr[i] = true :: skip fi
  :: rq[i] == REL -> if :: ANYZ -> zl[i] = true :: skip fi
  :: rq[i] == PNO && p[i] == 2 -> p[i] = 1
  :: else
  fi;
  unsend(i)
}
inline older(x, most) { x = min(x + 1, most) }

active proctype Clock() {
  byte c;
  do
  :: atomic {                         /* a tick */
       c = 0;
       do
       :: c < N ->
          w[c] = (w[c] > 0 -> w[c] - 1 : 0);
          if :: rq[c] != NONE && rq[c] < RNO -> older(r[c], TTL) :: else fi;
          if :: o[c] != 0 -> older(a[c], CTOF(c)) :: else fi;
          if :: p[c] != 0 -> older(m[c], TOP(c)) :: else fi;
          c++
       :: else -> break
       od;
       c = 0;
       if
       :: rem > 0 -> rem--;
          if :: rem == 0 -> assert(!inside(owner - 1)); owner = 0 :: else fi
       :: else
       fi
     }
#if STEPS > 0
  :: atomic { steps < STEPS -> steps++;        /* by one tick; two in a row are a step by two */
       c = 0;
       do
       :: c < N ->
#ifdef FORWARD
          if :: o[c] != 0 && o[c] > 1 -> o[c]-- :: else -> skip fi;
          if :: rq[c] == PNO && o2[c] > 1 -> o2[c]-- :: else -> skip fi;
          if :: p[c] != 0 -> older(m[c], TOP(c)) :: else fi;
#else
          if :: o[c] != 0 -> older(o[c], TOP(c) + 1) :: else fi;
          if :: rq[c] == PNO -> older(o2[c], TOP(c) + 1) :: else fi;
          if :: p[c] != 0 && m[c] > 0 -> m[c]-- :: else fi;
#endif
          c++
       :: else -> break
       od;
       c = 0;
#ifndef FORWARD
       rem = (owner != 0 -> rem + 1 : 0);
#endif
       skip }
#endif
  od
}

#ifdef BREAK
active proctype Breaker() {
  byte c, j;
  do
  :: atomic { seen == 0 && owner != 0 -> seen = owner; stale = false }
  :: atomic { seen != 0 && calls < 2 -> calls++; break_lock() }
  :: atomic { seen != 0 && calls > 0 -> seen = 0; stale = false; calls = 0 }
  od
}
#endif

proctype Claim(byte i) {
  bool yes; byte j;
  do
  /* ---- the server executes ---- */
  :: atomic { rq[i] == POLL -> acquire(i);
       if
       :: yes -> rq[i] = PYES
       :: else -> rq[i] = PNO; o2[i] = min(r[i] + LOW, TOP(i)) + 1; if :: p[i] == 1 -> p[i] = 2 :: else fi
       fi;
       yes = false }
  :: atomic { rq[i] == RENEW -> renew(i); rq[i] = (yes -> RYES : RNO); if :: !yes -> assert(!inside(i)); r[i] = 0 :: else fi; yes = false }
  :: atomic { rq[i] == REL -> release(i); rq[i] = RDONE }
  :: atomic { zp[i] -> zp[i] = false; acquire(i); yes = false }
  :: atomic { zr[i] -> zr[i] = false; renew(i); yes = false }
  :: atomic { zl[i] -> zl[i] = false; release(i) }
  /* ---- the network ---- */
#ifndef CALM                          /* no request is lost or late; pushes are */
  :: atomic { rq[i] != NONE -> give_up(i) }
#endif
  :: atomic { p[i] != 0 -> unpush(i) }
  /* ---- the client ---- */
  :: atomic { st[i] == IDLE -> st[i] = WAIT; send(i, POLL) }
  :: atomic { st[i] == WAIT && rq[i] == NONE -> send(i, POLL) }       /* timer, hint, reconnect, or to be sure */
  :: atomic { rq[i] == PYES && st[i] == WAIT ->
#ifdef TWIN_FROM_THE_ANSWER
       r[i] = 0;
#endif
       if
       :: r[i] < TTL -> st[i] = HOLD; w[i] = TTL - r[i]; assert(OWNS(i)); forget(i); unpush(i)
       :: else                                                         /* too late: ask again, or leave */
       fi;
       unsend(i) }
  :: atomic { rq[i] == PNO && st[i] == WAIT ->
       o[i] = o2[i]; a[i] = min(r[i], CTOF(i));
#ifdef TWIN_NO_FENCE
       if :: p[i] == 2 -> p[i] = 1 :: else fi;
#else
       if :: p[i] == 2 -> unpush(i) :: else fi;
#endif
       unsend(i) }
  :: atomic { p[i] != 0 && st[i] == WAIT && rq[i] == NONE && o[i] != 0 ->     /* a push: yes, or poll to be sure */
       j = o[i] - 1 + m[i];                                            /* how old it is, and 2 LOW */
#ifdef PROMPT
       j = (m[i] > LOW -> 100 : j);                                    /* it came later than that: lost */
#endif
       if
       :: NOT_FUTURE && NOT_BEFORE && j < 2 * LOW + CTOF(i) ->
#ifdef TWIN_FROM_THE_PUSH
          j = 2 * LOW;
#endif
          st[i] = HOLD; w[i] = CTOF(i) + 2 * LOW - j;
#ifdef TWIN_WHOLE_TTL
          w[i] = w[i] + TTL - CTOF(i);
#endif
          assert(OWNS(i)); forget(i)
       :: else
       fi;
       j = 0; unpush(i) }
  :: atomic { p[i] != 0 && st[i] == WAIT && rq[i] == NONE && o[i] == 0 -> unpush(i) }
#ifdef TWIN_TAKE_AFTER_LEAVING
  :: atomic { p[i] != 0 && st[i] == GONE -> unpush(i); give_up(i); st[i] = HOLD; w[i] = 1; assert(OWNS(i)) }
#endif
#ifndef PUSHES
  :: atomic { st[i] == HOLD && w[i] > 0 && rq[i] == NONE -> send(i, RENEW) }
#endif
  :: atomic { rq[i] == RYES && st[i] == HOLD ->
       if
       :: w[i] > 0 && TTL - r[i] > w[i] -> w[i] = TTL - r[i]; assert(OWNS(i))
       :: else                                                         /* lost is final */
       fi;
       unsend(i) }
  :: atomic { rq[i] == RNO && st[i] == HOLD -> w[i] = 0; unsend(i) }
  :: atomic { (st[i] == HOLD || st[i] == WAIT) ->                      /* release, loss, or giving up */
       give_up(i); st[i] = GONE; send(i, REL); w[i] = 0; forget(i) }
  :: atomic { st[i] == GONE && rq[i] == NONE -> send(i, REL) }         /* unknown: again */
  :: atomic { st[i] == GONE && rq[i] == NONE -> st[i] = DONE }         /* or leave it to the ttl */
  :: atomic { rq[i] == RDONE -> unsend(i); st[i] = DONE }
  :: atomic { st[i] == DONE && p[i] != 0 -> unpush(i); st[i] = GONE; send(i, REL) }     /* an unexpected push */
  :: atomic { st[i] == DONE && owner != i + 1 && !inq[i] && !zp[i] && !zr[i] && !zl[i] && p[i] == 0 && rq[i] == NONE ->
       st[i] = IDLE }                                                  /* no trace is left: it stands for a new claim */
  od
}
init { atomic { byte k = 0; do :: k < N -> run Claim(k); k++ :: else -> break od; k = 0 } }
