/*
 * A disk that fails on demand, for one process: compiled by the tests and loaded with LD_PRELOAD. WEIR_DISK_FAULTS names a file
 * of lines "<operation> <part of a path> <errno>", read again at each call; operation: write, sync or open.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int fault(const char *operation, const char *path) {
  const char *rules = getenv("WEIR_DISK_FAULTS");
  char text[1024], *line, *rest = text;
  ssize_t length;
  int fd;
  if (rules == NULL || (fd = (int)syscall(SYS_openat, AT_FDCWD, rules, O_RDONLY)) < 0) return 0;
  length = syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  text[length > 0 ? length : 0] = 0;
  while ((line = strsep(&rest, "\n")) != NULL) {
    char what[16], part[256];
    int error;
    if (sscanf(line, "%15s %255s %d", what, part, &error) != 3) continue;
    if (strcmp(what, operation) == 0 && strstr(path, part) != NULL) return error;
  }
  return 0;
}

static int fault_of(const char *operation, int fd) {
  char link[64], path[512];
  ssize_t length;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return fault(operation, path);
}

#define REAL(name) static __typeof__(&name) real; if (real == NULL) real = dlsym(RTLD_NEXT, #name)
#define FAIL(operation, fd) int error = fault_of(operation, fd); if (error != 0) { errno = error; return -1; }

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { FAIL("write", fd) REAL(pwrite); return real(fd, bytes, size, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) { FAIL("write", fd) REAL(pwrite64); return real(fd, bytes, size, at); }
ssize_t write(int fd, const void *bytes, size_t size) { FAIL("write", fd) REAL(write); return real(fd, bytes, size); }
ssize_t writev(int fd, const struct iovec *parts, int count) { FAIL("write", fd) REAL(writev); return real(fd, parts, count); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { FAIL("write", fd) REAL(pwritev); return real(fd, parts, count, at); }
int fsync(int fd) { FAIL("sync", fd) REAL(fsync); return real(fd); }
int fdatasync(int fd) { FAIL("sync", fd) REAL(fdatasync); return real(fd); }

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; \
    mode_t mode; \
    int error = fault("open", path); \
    if (error != 0) { errno = error; return -1; } \
    va_start(rest, flags); \
    mode = (mode_t)va_arg(rest, int); \
    va_end(rest); \
    REAL(name); \
    return real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
