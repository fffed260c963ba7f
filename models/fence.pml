/* Fences grow: over all grants of a name, and over the callers of one process that a grant is passed on to.

   P processes, one claim each at a time; a claim may serve several local callers one after the other (src/core/release.cpp).
   A grant comes with a block of B fences (64 in truth): the script moves K:f, kf here, by a whole block. That a claim which is
   valid owns K is what grant.pml shows; here a claim ceases to be valid at any time, and K may go only after that. A grant may
   get lost on its way; then the claim asks again and adopts it, with the block that K:f shows.
   Invariant: every caller's fence is above that of every caller before it.

   With RESET the server loses K and K:f once, and is away for OUT ticks; the clock, which is the floor of every block, must
   not be behind after that, and blocks must not have outrun it by more than the outage (LEAD). Then whole blocks are compared:
   the last holder from before may still be at work. */
#ifndef P
#define P 2
#endif
#define B 3
#define MAXPASS 2                     /* burst */
#define KMAX 18
#define OUT 5
#define LEAD 4
#define IDLE 0
#define WAIT 1
#define HELD 2                        /* a local caller is inside */
#define FREE 3                        /* the claim is ours, no caller is inside */
#define GONE 4                        /* release sent */
byte owner, kf, clk;
byte st[P], nf[P], ef[P], pass[P];
byte msg[P];                          /* a grant on its way: the first fence of its block */
byte mine[P];                         /* ghost: the first fence of the block that was made for the claim that owns K */
bool rl[P], val[P];
byte last, top;                       /* ghosts: the last fence that a caller got; the end of the highest block */
bool reset;

#define max(a, b) ((a) > (b) -> (a) : (b))
#ifdef RESET
#define ROOM (max(kf + 1, clk) + B - 1 <= KMAX && max(kf + 1, clk) + B - 1 <= clk + LEAD)
#else
#define ROOM (kf + B <= KMAX)
#endif
#ifdef TWIN_ONE_FENCE
#define SIZE 1
#else
#define SIZE B
#endif
#ifdef TWIN_PASS_WHEN_OVER
#define INTIME(p) true
#else
#define INTIME(p) val[p]
#endif
inline mint(base) {
#ifdef TWIN_NO_FLOOR
  base = kf + 1;
#else
  base = max(kf + 1, clk);
#endif
  kf = base + SIZE - 1;
  assert(base > top); top = max(top, kf)
}
inline enter(p) {
#ifndef RESET
  assert(nf[p] > last);
#endif
  last = nf[p]; nf[p]++; st[p] = HELD
}
active [P] proctype Process() {
  byte p = _pid; byte x;
end:
  do
  /* ---- the server ---- */
  :: atomic { st[p] == WAIT && owner == 0 && msg[p] == 0 && ROOM ->
       owner = p + 1; val[p] = true; mint(x); msg[p] = x; mine[p] = x; x = 0 }
  :: atomic { st[p] == WAIT && owner == p + 1 && msg[p] == 0 && val[p] ->                /* asked again */
#ifdef TWIN_ADOPT_THE_LAST
       msg[p] = kf;
#else
       msg[p] = kf - (SIZE - 1); assert(msg[p] == mine[p]);
#endif
       skip }
  :: atomic { owner == p + 1 && !val[p] -> owner = 0; mine[p] = 0 }                      /* expiry */
  :: atomic { rl[p] -> rl[p] = false; if :: owner == p + 1 -> owner = 0; mine[p] = 0 :: else fi }
  /* ---- the network ---- */
  :: atomic { msg[p] != 0 -> msg[p] = 0 }
  :: atomic { rl[p] -> rl[p] = false }
  /* ---- the deadline ---- */
  :: atomic { val[p] -> val[p] = false }
  /* ---- the process ---- */
  :: atomic { st[p] == IDLE -> st[p] = WAIT }
  :: atomic { st[p] == WAIT && msg[p] != 0 && val[p] ->
#ifdef TWIN_OLD_BLOCK
       if :: nf[p] != 0 && nf[p] <= ef[p] :: else -> nf[p] = msg[p]; ef[p] = msg[p] + B - 1 fi;   /* use it up first */
#else
       nf[p] = msg[p]; ef[p] = msg[p] + B - 1;
#endif
       msg[p] = 0; pass[p] = 0; enter(p) }
  :: atomic { st[p] == WAIT && !val[p] && owner != p + 1 && msg[p] != 0 -> msg[p] = 0 }  /* too late: it asks again */
  :: atomic { st[p] == WAIT -> st[p] = GONE; rl[p] = true; msg[p] = 0; val[p] = false }  /* gives up */
  :: atomic { st[p] == HELD -> st[p] = FREE }                                            /* the caller unlocks */
  :: atomic { st[p] == FREE && nf[p] <= ef[p] && pass[p] < MAXPASS && INTIME(p) -> pass[p]++; enter(p) }
#ifdef TWIN_PASS_AFTER_RELEASE
  :: atomic { st[p] == GONE && nf[p] != 0 && nf[p] <= ef[p] && pass[p] < MAXPASS -> pass[p]++; enter(p) }
#endif
  :: atomic { st[p] == FREE ->                                                           /* or gives it back */
       st[p] = GONE; rl[p] = true; val[p] = false;
#ifndef TWIN_PASS_AFTER_RELEASE
       pass[p] = 0;
#ifndef TWIN_OLD_BLOCK
       nf[p] = 0; ef[p] = 0;
#endif
#endif
       skip }
  :: atomic { st[p] == GONE && !rl[p] -> st[p] = IDLE; val[p] = false }
#ifdef RESET
  :: atomic { !reset -> reset = true; kf = 0; owner = 0; clk = clk + OUT; mine[0] = 0; mine[1] = 0 }
  :: atomic { clk < KMAX -> clk++ }
#endif
  od
}
