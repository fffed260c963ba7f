/* Fences of Redlock grow from holder to holder (src/quorum/client.cpp, src/redis/scripts/vote.lua and raise.lua).

   N servers, each with the last fence that it gave (last); C clients, one after the other or at the same time. A client proposes
   its clock, 0 or SKEW; a server that votes for it answers with that, or with the one after its last. The highest answer is the
   fence, if a majority gave it; else it is written back to a majority first. A vote ends at any time, but not before the
   deadline of its client; and a holder has a majority at that instant, which redlock.pml shows.
   Invariant: the fence of each holder is above those of all before.

   Not modelled: a server that forgets its last fence; see redlock_forget.pml. */
#define N 3
#define C 2
#define Q (N / 2 + 1)
#define ROUNDS 2                      /* of the first client; the other has one */
#define SKEW 1
#define max(a, b) ((a) > (b) -> (a) : (b))
#define ORPHAN 9                      /* an attempt that is over, and whose vote was not taken back */
byte owner[N];                        /* 0: free */
byte last[N];
byte highest;                         /* ghost: of all holders */
bool late[C];                         /* its deadline is over */

inline expire(i) {
  if :: owner[i] != ORPHAN -> late[owner[i] - 1] = true :: else fi;
  owner[i] = 0
}

active proctype World() {
end:
  do
  :: atomic { owner[0] != 0 -> expire(0) }
  :: atomic { owner[1] != 0 -> expire(1) }
  :: atomic { owner[2] != 0 -> expire(2) }
  od
}

proctype Client(byte me) {
  byte i, got, proposed, top, same, wrote, round;
  byte said[N];
  do
  :: round < ROUNDS + 1 - me ->
     atomic {
       late[me - 1] = false; round++; got = 0; top = 0; wrote = 0; i = 0;
       if :: proposed = SKEW :: proposed = 0 fi
     };
     do
     :: i < N ->
        if
        :: atomic { owner[i] == 0 ->
             owner[i] = me; last[i] = max(last[i] + 1, proposed);
             said[i] = last[i]; got++; top = max(top, said[i]); i++ }
        :: i++
        fi
     :: else -> break
     od;
     atomic {                         /* how many have said the highest */
       same = (said[0] == top) + (said[1] == top) + (said[2] == top);
       said[0] = 0; said[1] = 0; said[2] = 0; proposed = 0; i = 0
     };
     if
     :: got >= Q && same >= Q -> wrote = Q
     :: got >= Q && same < Q ->
#ifdef TWIN_NOT_WRITTEN_BACK
        wrote = Q
#else
        do
        :: i < N ->
           if
#ifdef TWIN_TO_ONE
           :: atomic { wrote == 0 && owner[i] == me -> last[i] = max(last[i], top); wrote = Q; i++ }
#else
           :: atomic { owner[i] == me -> last[i] = max(last[i], top); wrote++; i++ }
#endif
           :: i++
           fi
        :: else -> break
        od
#endif
     :: else
     fi;
     if
     :: atomic { wrote >= Q && !late[me - 1] && (owner[0] == me) + (owner[1] == me) + (owner[2] == me) >= Q ->
          assert(top > highest); highest = top }
     :: true
     fi;
     atomic {
       i = 0;
       do :: i < N -> if :: owner[i] == me -> owner[i] = 0 :: owner[i] == me -> owner[i] = ORPHAN :: else fi; i++ :: else -> break od;
       i = 0; same = 0; top = 0; got = 0; wrote = 0
     }
  :: else -> break
  od
}

init { atomic { run Client(1); run Client(2) } }
