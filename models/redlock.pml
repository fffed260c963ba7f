/* Redlock: no two hold at once, both before their deadline (src/quorum/client.cpp).

   N servers that do not know each other, C clients. Time is discrete: what is left of a key (rem), of a server's youth
   (young) and of a deadline (v) counts down, all in one tick. A client reads its clock, asks server after server, each at some
   later instant or not at all, and may not receive the reply. With a majority before its deadline it holds, until it takes
   its votes back, of which each may get lost.
   Invariant: a client that holds before its deadline is the only one.

   With RENEW the first client renews, by a true majority, and repairs the servers that have lost their key. With LATE its votes
   are taken back at any later time, or never: such a message names the attempt, and the next one has another number.
   With RESTARTS a server comes back empty, and does not vote, nor count in renewals, for a ttl. With FAST the clock of a
   server may gain a tick in the life of a key, and clients leave a tick of their ttl. */
#define N 3
#define C 2
#ifndef TTL
#define TTL 2
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#ifdef TWIN_HALF
#define Q (N / 2)
#else
#define Q (N / 2 + 1)
#endif
#ifdef FAST
#ifdef TWIN_NO_ALLOWANCE
#define GOOD TTL
#else
#define GOOD (TTL - 1)
#endif
#else
#define GOOD TTL
#endif
#ifdef TWIN_YOUNG_VOTE
#define VOTES(i) true
#else
#define VOTES(i) (young[i] == 0)
#endif
#ifdef TWIN_YOUNG_RENEW
#define RENEWS(i) true
#else
#define RENEWS(i) (young[i] == 0)
#endif
#if defined(TWIN_ONE_NUMBER) || !defined(LATE)
#define ID(me, n) (2 * (me) + 1)
#else
#define ID(me, n) (2 * (me) + 1 + ((me) == FIRST -> (n) : 0))
#endif
#define ORPHAN 9
#define FIRST 0
byte owner[N];                        /* 0: free; else the attempt that has its vote */
byte rem[N];
byte young[N];
bool gained[N];
byte v[C], w;                         /* until the deadline; until the one that a renewal would give */
bool hold[C];
byte back[N];                        /* a message on its way: takes back the vote of this attempt, which is over */
byte number;                          /* of the present attempt of the first client, 0 or 1 */
byte restarts;

#define free(i) owner[i] = 0; rem[i] = 0; gained[i] = false
#define alone(me) (!(hold[1 - (me)] && v[1 - (me)] > 0))

active proctype Time() {
  byte i;
  do
  :: atomic {
       i = 0;
       do
       :: i < N ->
          if
          :: rem[i] > 0 ->
             rem[i]--;
#ifdef FAST
             if
             :: rem[i] > 0 && !gained[i] -> rem[i]--; gained[i] = true
             :: true
             fi;
#endif
             if :: rem[i] == 0 -> owner[i] = 0; gained[i] = false :: else fi
          :: else
          fi;
          if :: young[i] > 0 -> young[i]-- :: else fi;
          i++
       :: else -> break
       od;
       i = 0;
       do
       :: i < C ->
          if :: v[i] > 0 -> v[i]-- :: else fi;
          i++
       :: else -> break
       od;
       if :: w > 0 -> w-- :: else fi;
       i = 0
     }
  od
}

#if RESTARTS > 0
active proctype Restart() {
  byte i;
  do
  :: restarts < RESTARTS -> atomic {
       if :: i = 0 :: i = 1 :: i = 2 fi;
       free(i); restarts++;
#ifdef TWIN_TOO_SHORT
       young[i] = TTL - 1;
#else
       young[i] = TTL;
#endif
       i = 0 }
  :: else -> break
  od
}
#endif

proctype Client(byte me) {
  byte i, got, mine;
  do
  :: atomic {                         /* the next attempt */
#ifdef LATE
       if :: me == FIRST -> number = 1 - number :: else fi;
#endif
       mine = ID(me, number);
#ifndef TWIN_ONE_NUMBER
       i = 0;                         /* votes left by the attempt before the last belong to no client */
       do :: i < N -> if :: owner[i] == mine -> owner[i] = ORPHAN :: else fi; i++ :: else -> break od;
#endif
       got = 0; i = 0;
#ifndef TWIN_FROM_THE_ANSWER
       v[me] = GOOD
#endif
     };
     do
     :: i < N ->
        if
        :: atomic { VOTES(i) && owner[i] == 0 ->
             owner[i] = mine; rem[i] = TTL; gained[i] = false;
             if :: got++ :: true fi; i++ }
        :: i++                        /* refused, lost, or too late */
        fi
     :: else -> break
     od;
     if
#ifdef TWIN_FROM_THE_ANSWER
     :: atomic { got >= Q -> v[me] = GOOD;
#else
     :: atomic { got >= Q && v[me] > 0 ->
#endif
          hold[me] = true; assert(alone(me)) };
#ifdef RENEW
        do
        :: atomic { me == FIRST && v[me] > 0 -> w = GOOD; got = 0; i = 0 };
           do
           :: i < N ->
              if
              :: atomic { owner[i] == mine ->
                   rem[i] = TTL; gained[i] = false;
                   if :: RENEWS(i) -> if :: got++ :: true fi :: else fi; i++ }
#ifdef TWIN_MINORITY_MAKES_IT_AGAIN
              :: atomic { owner[i] == 0 -> owner[i] = mine; rem[i] = TTL; gained[i] = false; got++; i++ }
#endif
              :: i++
              fi
           :: else -> break
           od;
           if
           :: atomic { got >= Q && v[me] > 0 && w > 0 -> v[me] = w; w = 0; i = 0; assert(alone(me)) };
              do                      /* servers that have lost it get it again */
              :: i < N ->
                 if
                 :: atomic { owner[i] == 0 -> owner[i] = mine; rem[i] = TTL; gained[i] = false; i++ }
                 :: i++
                 fi
              :: else -> break
              od
           :: else -> w = 0
           fi
        :: break
        od;
#endif
        atomic { hold[me] = false; w = 0 }
     :: else
     fi;
     atomic {
       v[me] = 0; got = 0; i = 0;
       do
       :: i < N ->
          if
#ifdef LATE
          :: me == FIRST -> back[i] = mine
#else
          :: me == FIRST && owner[i] == mine -> free(i)
          :: me == FIRST
#endif
          :: me != FIRST && owner[i] == mine -> free(i)
          :: me != FIRST               /* lost */
          fi;
          i++
       :: else -> break
       od;
       i = 0
     }
  od
}

#ifdef LATE
inline take_back(i) {
#ifdef TWIN_OF_ANY_OWNER
  free(i);
#else
  if :: owner[i] == back[i] -> free(i) :: else fi;
#endif
  back[i] = 0
}

/* Messages that take a vote back, at any time, also during the next attempt. */
active proctype Network() {
  do
  :: atomic { back[0] != 0 -> take_back(0) }
  :: atomic { back[1] != 0 -> take_back(1) }
  :: atomic { back[2] != 0 -> take_back(2) }
  od
}
#endif

init { atomic { run Client(0); run Client(1) } }
