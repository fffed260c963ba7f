/* No lost wake-up, first come first served among the living, and a dead head is skipped.

   One lock, three claims in a loop. Claim 0 neither crashes nor gives up; the others may do both. Time passes only when nothing
   is on its way and nothing is due, unless a fault pays for it: so what must happen at once is seen to happen at once.
   Faults, FB of them: a crash (which the server sees, or not), a push swallowed, a connection cut, a request or an answer lost,
   a poll that is executed after its sender gave up on it, a tick too early (a delay). With CRASHES only crashes.

   Invariants:
     order   when a claim is granted the lock, no living claim that came before it is left in the queue;
     skip    a release hands the lock to a waiter that receives the push, or frees it if no waiter can;
     wake    while a claim waits, the lock is unused for at most FB * TTL ticks in a row, until the leases of dead holders
             expire. Together with the order, no claim waits for ever.
   A holder that lives renews in time. The lock is safe by grant.pml; here a claim takes a grant if it owns K. */
#ifndef TTL
#define TTL 2
#endif
#ifndef CT
#define CT 1
#endif
#ifndef FB
#define FB 1
#endif
#define N 3
#define IDLE 0
#define WAIT 1
#define HOLD 2
#define GONE 3
#define DEAD 4
#define NONE 0
#define POLL 1
#define PYES 2
#define PNO  3
#define REL  4
#define RDONE 5

byte owner, rem;
byte st[N], rq[N], tm[N], pt[N];
byte tk[N];                     /* ticket, kept as a rank: 0 none, 1 the oldest */
byte ar[N];                     /* ghost: rank of the first poll executed for this claim */
bool inq[N], sub[N], kt[N];     /* in K:q; subscribed as the server sees it; the client knows its ticket */
byte push[N];                   /* 0 none, 1 in flight, 2 older than an open "no" */
bool rc[N], np[N], zp[N], ran[N];
byte faults; byte idle;

#define alive(i) (st[i] != DEAD)
#ifdef TWIN_NO_TIMER
#define DUE(i) false
#else
#define DUE(i) (st[i] == WAIT && tm[i] == 0)
#endif
#define BUSY(i) (alive(i) && (rq[i] != NONE || st[i] == GONE || push[i] != 0 || DUE(i) || rc[i] || (np[i] && st[i] == WAIT)))
#define QUIET (!BUSY(0) && !BUSY(1) && !BUSY(2))
#define WAITING (st[0] == WAIT || st[1] == WAIT || st[2] == WAIT)
#define USEFUL (owner != 0 && st[owner - 1] == HOLD)

#define rank(a, i) (a[i] == 0 -> 1 + (a[0] != 0) + (a[1] != 0) + (a[2] != 0) : a[i])
#define less(a, x, i) a[x] = (a[x] > a[i] -> a[x] - 1 : a[x])
#define unrank(a, i) if :: a[i] != 0 -> less(a, 0, i); less(a, 1, i); less(a, 2, i); a[i] = 0 :: else fi
#define forget(i) if :: !inq[i] -> unrank(tk, i); unrank(ar, i) :: else fi
#define AHEAD(a, b) (a != b && inq[a] && sub[a] && ar[a] < ar[b])
#define FIRST(a) (inq[a] && (tk[a] < tk[0] || a == 0 || !inq[0]) && (tk[a] < tk[1] || a == 1 || !inq[1]) && (tk[a] < tk[2] || a == 2 || !inq[2]))
#define before(a, b) (a != b && inq[a] && tk[a] < tk[b])
#define BEFORE(i) (before(0, i) + before(1, i) + before(2, i))
inline grant(c, life) {
  assert(!AHEAD(0, c) && !AHEAD(1, c) && !AHEAD(2, c));        /* order */
  owner = c + 1; rem = life; inq[c] = false;
  if :: st[c] == DEAD || st[c] == IDLE -> forget(c) :: else fi
}
/* K is free: hand it to the first waiter that can be reached. me: the claim whose poll this is, or N */
inline handover(me) {
  do
  :: owner != 0 -> break
  :: owner == 0 && !inq[0] && !inq[1] && !inq[2] -> break
  :: else ->
#ifdef TWIN_LAST_FIRST
     if :: inq[2] -> h = 2 :: !inq[2] && inq[1] -> h = 1 :: else -> h = 0 fi;
#else
     if :: FIRST(0) -> h = 0 :: FIRST(1) -> h = 1 :: FIRST(2) -> h = 2 fi;
#endif
     if
     :: h == me -> grant(h, TTL)
#ifdef TWIN_SKIP_NO_WAITER
     :: h != me && !sub[h] -> grant(h, CT)
#endif
     :: h != me && sub[h] -> grant(h, CT); push[h] = 1;
#ifdef TWIN_KEEP_THE_HEAD
        inq[h] = true;                                          /* stays at the head until it has confirmed */
#endif
#ifndef TWIN_SKIP_NO_WAITER
     :: h != me && !sub[h] -> inq[h] = false;                   /* PUBLISH said 0 */
        if :: st[h] == DEAD || st[h] == IDLE -> forget(h) :: else fi
#endif
     fi;
     h = 0
  od
}
inline srv_poll(i) {
  if
  :: owner == i + 1 -> inq[i] = false; rem = (rem < TTL -> TTL : rem); yes = true
  :: else ->
#ifdef TWIN_BARGE
     if
     :: owner == 0 -> grant(i, TTL)
     :: else
     fi;
#endif
     if
     :: owner != i + 1 && !inq[i] ->
#ifdef TWIN_NEW_TICKET
        unrank(tk, i);
#endif
        if :: !kt[i] -> unrank(tk, i); unrank(ar, i) :: else fi;   /* popped before it ever knew its ticket: a newcomer */
        inq[i] = true; tk[i] = rank(tk, i); ar[i] = rank(ar, i)
     :: else
     fi;
#ifndef TWIN_ONLY_THE_HEAD
     handover(i);
#else
     if :: owner == 0 && FIRST(i) -> grant(i, TTL) :: else fi;   /* only the head may take a free lock */
#endif
     yes = (owner == i + 1);
     /* when to look again: src/redis/lock/claim.cpp, busy() */
     pt[i] = (rem < CT * (BEFORE(i) + 1) -> rem : CT * (BEFORE(i) + 1));
     pt[i] = (yes -> 0 : (pt[i] == 0 -> 1 : pt[i]))
  fi
}
inline srv_release(i) {
  inq[i] = false;
  if
#ifdef TWIN_LEAVE_ONLY_THE_QUEUE
  :: owner == i + 1 && relq[i] -> owner = 0; rem = 0
#else
  :: owner == i + 1 -> owner = 0; rem = 0
#endif
  :: else
  fi;
#ifdef TWIN_ONLY_DELETE
  skip                                                          /* release only deletes */
#else
  if
  :: owner == 0 -> handover(N);
     assert(owner == 0 || sub[owner - 1]);                      /* skip */
     assert(owner != 0 || !(inq[0] && sub[0] || inq[1] && sub[1] || inq[2] && sub[2]))
  :: else
  fi
#endif
}
#ifdef TWIN_LEAVE_ONLY_THE_QUEUE
bool relq[N];
#endif

active [N] proctype Claim() {
  byte i = _pid; bool yes; byte h;
  sub[i] = true;                                                /* subscribed before the first poll */
  do
  /* ---- the server ---- */
  :: atomic { rq[i] == POLL -> srv_poll(i);
       if
       :: yes -> rq[i] = PYES
       :: else -> rq[i] = PNO; if :: push[i] == 1 -> push[i] = 2 :: else fi
       fi; yes = false }
  :: atomic { rq[i] == REL -> srv_release(i); rq[i] = RDONE }
  :: atomic { zp[i] -> zp[i] = false; srv_poll(i); pt[i] = 0; yes = false }
  /* ---- the client ---- */
  :: atomic { st[i] == IDLE && rq[i] == NONE && !rc[i] && !zp[i] && !ran[i] && push[i] == 0 && !inq[i] && owner != i + 1 ->
       ran[i] = true; st[i] = WAIT; rq[i] = POLL; np[i] = false }
  :: atomic { st[i] == WAIT && rq[i] == NONE && !rc[i] && (DUE(i) || np[i]) -> rq[i] = POLL; np[i] = false }
  :: atomic { rq[i] == PYES && st[i] == WAIT -> push[i] = 0;
       if
       :: owner == i + 1 -> rq[i] = NONE; st[i] = HOLD; tm[i] = 0                   
       :: else -> rq[i] = POLL                                                      /* came too late */
       fi }
  :: atomic { rq[i] == PNO && st[i] == WAIT -> rq[i] = NONE; kt[i] = true;
       tm[i] = pt[i]; pt[i] = 0;
       if :: push[i] == 2 -> push[i] = 0 :: else fi }
  :: atomic { st[i] == WAIT && rq[i] == NONE && push[i] != 0 -> push[i] = 0;
       if
       :: owner == i + 1 -> st[i] = HOLD; tm[i] = 0             /* taken */
       :: rq[i] = POLL                                          /* too little left: confirm first */
       fi }
  :: atomic { st[i] == WAIT && i != 0 && (rq[i] == NONE || rq[i] == PYES || rq[i] == PNO) ->   /* gives up */
       st[i] = GONE; tm[i] = 0; pt[i] = 0; np[i] = false; rq[i] = REL }
  :: atomic { st[i] == HOLD -> st[i] = GONE; rq[i] = REL; np[i] = false;
#ifdef TWIN_LEAVE_ONLY_THE_QUEUE
       relq[i] = true;
#endif
       skip }
  :: atomic { st[i] == GONE && rq[i] == NONE -> rq[i] = REL }    /* answer lost: again */
  :: atomic { rq[i] == RDONE && st[i] == GONE -> rq[i] = NONE; st[i] = IDLE; kt[i] = false; forget(i);
#ifdef TWIN_LEAVE_ONLY_THE_QUEUE
       relq[i] = false;
#endif
       skip }
  :: atomic { st[i] == IDLE && push[i] != 0 && rq[i] == NONE -> push[i] = 0; st[i] = GONE; rq[i] = REL }  /* unexpected */
  :: atomic { alive(i) && rc[i] -> rc[i] = false; sub[i] = true; push[i] = 0;                  /* reconnect: subscribe, then poll */
       np[i] = (st[i] == WAIT) }
  od
}
#ifdef CRASHES
#define ANY false
#else
#define ANY true
#endif
active proctype Fault() {
  byte c;
  do
  :: atomic { faults < FB -> faults++;
       if :: c = 0 :: c = 1 :: c = 2 fi;
       if
       :: c != 0 && alive(c) -> st[c] = DEAD; if :: sub[c] = false :: skip fi;       /* crash; or a machine that vanished */
          rq[c] = NONE; push[c] = 0; tm[c] = 0; pt[c] = 0; rc[c] = false; np[c] = false; kt[c] = false;
          forget(c)
       :: ANY && push[c] != 0 -> push[c] = 0                                                /* swallowed, unnoticed */
       :: ANY && alive(c) && !rc[c] -> rc[c] = true; push[c] = 0; if :: sub[c] = false :: skip fi   /* cut */
       :: ANY && rq[c] == POLL && !zp[c] -> rq[c] = NONE; np[c] = (st[c] == WAIT); zp[c] = true /* timed out, executed later */
       :: ANY && (rq[c] == POLL || rq[c] == PYES || rq[c] == PNO || rq[c] == REL || rq[c] == RDONE) ->
          rq[c] = NONE; pt[c] = 0; np[c] = (st[c] == WAIT); push[c] = (push[c] == 2 -> 1 : push[c])   /* lost */
       :: ANY && !QUIET -> faults = faults + 100                                            /* a tick too early */
       fi;
       c = 0 }
  od
}
active proctype Tick() {
  do
  :: atomic { (QUIET || faults >= 100) ->
       if
       :: faults >= 100 -> faults = faults - 100
       :: else -> if :: USEFUL -> rem = TTL + 1 :: else fi              /* a live holder has renewed in time */
       fi;
       if :: WAITING && !USEFUL -> idle++ :: else -> idle = 0 fi;
       assert(idle <= FB * TTL);                                                     /* wake */
       tm[0] = (tm[0] > 0 -> tm[0] - 1 : 0); tm[1] = (tm[1] > 0 -> tm[1] - 1 : 0); tm[2] = (tm[2] > 0 -> tm[2] - 1 : 0);
       ran[0] = false; ran[1] = false; ran[2] = false;
       if
       :: rem > 0 -> rem--;
          if
          :: rem == 0 -> if :: USEFUL -> st[owner - 1] = GONE; rq[owner - 1] = REL :: else fi; owner = 0   /* lost */
          :: else
          fi
       :: else
       fi }
  od
}
