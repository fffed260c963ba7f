/* Preloaded into a server: its wall clock is ahead by what stands in the file $HOLDFAST_CLOCK_OFFSET, in milliseconds, as
 * eight bytes. The file is mapped, so that a test can set the clock of a server that runs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *offset_in_ms;

static long long ahead(void) {
  if (offset_in_ms == NULL) {
    const char *path = getenv("HOLDFAST_CLOCK_OFFSET");
    const int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return 0;
    void *page = mmap(NULL, sizeof *offset_in_ms, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED) return 0;
    offset_in_ms = page;
  }
  return *offset_in_ms;
}

int clock_gettime(clockid_t id, struct timespec *t) {
  const int failed = (int)syscall(SYS_clock_gettime, id, t);
  if (failed == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
    const long long ns = t->tv_nsec + (ahead() % 1000) * 1000000;
    t->tv_sec += ahead() / 1000 + (ns < 0 ? -1 : ns / 1000000000);
    t->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
  }
  return failed;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *t) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t != NULL) *t = now.tv_sec;
  return now.tv_sec;
}
