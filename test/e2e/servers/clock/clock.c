/*
 * A real-time clock that a test sets, for LD_PRELOAD: the kernel's, plus the seconds in the file that CLOCK_AHEAD names (eight
 * bytes, a signed number). The monotonic clocks stay. Nothing here allocates memory: Envoy's allocator asks for the time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead;

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("CLOCK_AHEAD");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *page = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (page != MAP_FAILED) ahead = page;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int failed = syscall(SYS_clock_gettime, clock, time);
  int real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (failed == 0 && real && ahead != NULL) time->tv_sec += *ahead;
  return failed;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  int failed = clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return failed;
}

time_t time(time_t *told) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (told != NULL) *told = now.tv_sec;
  return now.tv_sec;
}
