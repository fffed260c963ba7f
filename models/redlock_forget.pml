/* Fences of Redlock grow from holder to holder, although servers forget theirs (src/quorum/client.cpp, src/redis/scripts/vote.lua
   and raise.lua). Time makes up for a fence that is gone: a server that has restarted does not vote for the longest ttl, and
   after that every clock that is proposed is above the fences from before.

   N servers, each with the last fence that it gave (last). Any of them may restart empty, RESTARTS times in all. C clients; each
   proposes its clock, and that of the first is SKEW ahead. An attempt takes a tick or more, so fences run ahead of the clocks by
   no more than C; it counts for TTL from its beginning. A vote ends with that, or is taken back, late if at all.
   Invariant: the fence of each holder is above those of all before, if SKEW + C < LONGEST.

   Not modelled: votes of one attempt that are given one after the other; redlock_fence.pml, which has no time, has those. */
#define N 3
#define C 2
#define Q (N / 2 + 1)
#define ROUNDS 1                      /* of each client */
#define TTL 2
#define LONGEST 4                     /* ttl that a client may have */
#define END 7                         /* of time */
#define ORPHAN 9                      /* an attempt that is over, and whose vote was not taken back */
#ifdef TWIN_CLOCKS_APART
#define SKEW 6
#else
#define SKEW 1
#endif
#ifdef TWIN_YOUNG_VOTE
#define GROWN now
#else
#define GROWN (now + LONGEST)
#endif
#ifdef TWIN_NO_CLOCK
#define CLOCK 0
#else
#define CLOCK now
#endif
#define RESTARTS 1
#define max(a, b) ((a) > (b) -> (a) : (b))
byte now;
byte owner[N];                        /* 0: free */
byte last[N];
byte votes_from[N];                   /* when it is old enough */
byte restarts;
byte sent[C];                         /* when its attempt began */
byte highest;                         /* ghost: of all holders */

#define is_over(i) (owner[i] == ORPHAN || now >= sent[owner[i] - 1] + TTL)

inline begin_anew(i) { owner[i] = 0; last[i] = 0; votes_from[i] = GROWN; restarts++ }
inline grow_up(i) { if :: votes_from[i] <= now -> votes_from[i] = 0 :: else fi }  /* fewer states */
inline tick() { now++; grow_up(0); grow_up(1); grow_up(2) }

active proctype World() {
end:
  do
  :: atomic { now < END -> tick() }
  :: atomic { owner[0] != 0 && is_over(0) -> owner[0] = 0 }
  :: atomic { owner[1] != 0 && is_over(1) -> owner[1] = 0 }
  :: atomic { owner[2] != 0 && is_over(2) -> owner[2] = 0 }
  :: atomic { restarts < RESTARTS -> if :: begin_anew(0) :: begin_anew(1) :: begin_anew(2) fi }
  od
}

proctype Client(byte me) {
  byte i, got, proposed, top, same, wrote, round;
  byte said[N];
  do
  :: round < ROUNDS && now < END ->
     atomic { tick(); sent[me - 1] = now; round++; proposed = CLOCK + (me == 1 -> SKEW : 0) };
     atomic {                         /* some of them vote for it */
       do
       :: i < N ->
          if
          :: owner[i] == 0 && now >= votes_from[i] ->
             owner[i] = me; last[i] = max(last[i] + 1, proposed);
             said[i] = last[i]; got++; top = max(top, said[i])
          :: true
          fi;
          i++
       :: else -> break
       od;
       same = (said[0] == top) + (said[1] == top) + (said[2] == top);
       if :: got >= Q && same >= Q -> wrote = Q :: else fi;
       if :: got < Q -> top = 0 :: else fi;
       said[0] = 0; said[1] = 0; said[2] = 0; same = 0; got = 0; proposed = 0; i = 0
     };
     if
     :: atomic { top != 0 && wrote < Q ->
          do
          :: i < N -> if :: owner[i] == me -> last[i] = max(last[i], top); wrote++ :: true fi; i++
          :: else -> break
          od;
          i = 0 }
     :: else
     fi;
     if
     :: atomic { wrote >= Q && now < sent[me - 1] + TTL -> assert(top > highest); highest = top }
     :: true
     fi;
     atomic {
       do :: i < N -> if :: owner[i] == me -> owner[i] = 0 :: owner[i] == me -> owner[i] = ORPHAN :: else fi; i++ :: else -> break od;
       i = 0; top = 0; wrote = 0; sent[me - 1] = 0
     }
  :: else -> break
  od
}

init { atomic { run Client(1); run Client(2) } }
