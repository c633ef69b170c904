/*
 * A disk that fails or is slow on demand, for one process: compiled by the tests and loaded with LD_PRELOAD. WEIR_DISK_FAULTS names
 * a file of lines "<operation> <part of a path> <number>", read again at each call. Operation: read, write, sync, open, rename (by the new
 * name) or mkdir, which fail with this errno; or slow: a sync takes so many milliseconds longer, and a line "main" or "other", the thread that waited, and the path
 * are appended to the file that WEIR_DISK_LOG names. Or kill: right before the n-th call, of any kind, that
 * changes a file whose path has this part, the process that makes it ends by SIGKILL; killall: its whole group does. Calls of all
 * processes with these rules are counted together, in bytes of WEIR_DISK_LOG.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
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

static int path_of(int fd, char *path, size_t size) {
  char link[64];
  ssize_t length;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink(link, path, size - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return 1;
}

static void count(const char *path) {
  const char *name = getenv("WEIR_DISK_LOG");
  int at = fault("kill", path), all = fault("killall", path), log;
  struct stat counted;
  if ((at == 0 && all == 0) || name == NULL) return;
  if ((log = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600)) < 0) return;
  syscall(SYS_write, log, ".", 1);
  if (fstat(log, &counted) == 0 && counted.st_size == at + all) kill(all != 0 ? 0 : getpid(), SIGKILL);
  syscall(SYS_close, log);
}

static int fault_of(const char *operation, int fd) {
  char path[512];
  if (!path_of(fd, path, sizeof path)) return 0;
  count(path);
  return fault(operation, path);
}

static int read_fault_of(int fd) {
  char path[512];
  return path_of(fd, path, sizeof path) ? fault("read", path) : 0;
}

static void delay(int fd) {
  const char *name = getenv("WEIR_DISK_LOG");
  char path[512], line[600];
  int ms, log;
  struct timespec time;
  if (!path_of(fd, path, sizeof path) || (ms = fault("slow", path)) == 0) return;
  if (name != NULL && (log = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600)) >= 0) {
    int length = snprintf(line, sizeof line, "%s %s\n", syscall(SYS_gettid) == getpid() ? "main" : "other", path);
    syscall(SYS_write, log, line, length);
    syscall(SYS_close, log);
  }
  time.tv_sec = ms / 1000;
  time.tv_nsec = (ms % 1000) * 1000000L;
  nanosleep(&time, NULL);
}

#define REAL(name) static __typeof__(&name) real; if (real == NULL) real = dlsym(RTLD_NEXT, #name)
#define FAIL_READ(fd) int error = read_fault_of(fd); if (error != 0) { errno = error; return -1; }
#define FAIL(operation, fd) int error = fault_of(operation, fd); if (error != 0) { errno = error; return -1; }

ssize_t read(int fd, void *bytes, size_t size) { FAIL_READ(fd) REAL(read); return real(fd, bytes, size); }
ssize_t pread(int fd, void *bytes, size_t size, off_t at) { FAIL_READ(fd) REAL(pread); return real(fd, bytes, size, at); }
ssize_t pread64(int fd, void *bytes, size_t size, off64_t at) { FAIL_READ(fd) REAL(pread64); return real(fd, bytes, size, at); }
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { FAIL("write", fd) REAL(pwrite); return real(fd, bytes, size, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) { FAIL("write", fd) REAL(pwrite64); return real(fd, bytes, size, at); }
ssize_t write(int fd, const void *bytes, size_t size) { FAIL("write", fd) REAL(write); return real(fd, bytes, size); }
ssize_t writev(int fd, const struct iovec *parts, int count) { FAIL("write", fd) REAL(writev); return real(fd, parts, count); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { FAIL("write", fd) REAL(pwritev); return real(fd, parts, count, at); }
int fsync(int fd) { FAIL("sync", fd) delay(fd); REAL(fsync); return real(fd); }
int fdatasync(int fd) { FAIL("sync", fd) delay(fd); REAL(fdatasync); return real(fd); }

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; \
    mode_t mode; \
    int error = fault("open", path); \
    if (flags & O_CREAT) count(path); \
    if (error != 0) { errno = error; return -1; } \
    va_start(rest, flags); \
    mode = (mode_t)va_arg(rest, int); \
    va_end(rest); \
    REAL(name); \
    return real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

int unlink(const char *path) { count(path); REAL(unlink); return real(path); }
int rename(const char *from, const char *to) {
  int error = fault("rename", to);
  count(to);
  if (error != 0) { errno = error; return -1; }
  REAL(rename);
  return real(from, to);
}
int mkdir(const char *path, mode_t mode) {
  int error = fault("mkdir", path);
  if (error != 0) { errno = error; return -1; }
  REAL(mkdir);
  return real(path, mode);
}
int ftruncate(int fd, off_t size) { FAIL("write", fd) REAL(ftruncate); return real(fd, size); }
int ftruncate64(int fd, off64_t size) { FAIL("write", fd) REAL(ftruncate64); return real(fd, size); }
