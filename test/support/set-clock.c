/*
 * A wall clock that a test sets while processes run: compiled by the tests and loaded with LD_PRELOAD. WEIR_CLOCKS names a folder of
 * files of 8 bytes, each a number of milliseconds, in this machine's byte order, by which a clock is ahead of the real one. A process
 * has the clock that is named like its CELL; without such a file, the real one. The file is mapped, so a setting counts from the next
 * reading on, in all threads. Monotonic clocks and timers are left alone, as they are where a machine's clock is set.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t none = 0;
static const volatile int64_t *ahead_ms = &none;
static int (*real_clock)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find_clock(void) {
  const char *folder = getenv("WEIR_CLOCKS"), *name = getenv("CELL");
  char path[512];
  void *mapped;
  int fd;
  if (folder == NULL || name == NULL) return;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) return;
  mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) ahead_ms = mapped;
}

static void set_ahead(struct timespec *time) {
  int64_t ahead = *ahead_ms;
  time->tv_sec += ahead / 1000;
  time->tv_nsec += (ahead % 1000) * 1000000;
  if (time->tv_nsec < 0) time->tv_sec--, time->tv_nsec += 1000000000;
  if (time->tv_nsec >= 1000000000) time->tv_sec++, time->tv_nsec -= 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result;
  if (real_clock == NULL) real_clock = dlsym(RTLD_NEXT, "clock_gettime");
  result = real_clock(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI)) set_ahead(time);
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}
