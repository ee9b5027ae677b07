// Faults on purpose: a library for LD_PRELOAD that lets one system call of a program fail, or do half of its work.
//
// It counts the calls on files below $FAULT_ROOT, by kind: the file is the path of the call, or where /proc/self/fd
// leads. Children of the program run without it.
//
//   FAULT_ROOT   calls on files below this folder count
//   FAULT_LOG    file for a line about each call that counts: "open 3 /path"
//   FAULT_AT     "KIND N ERRNO": the N-th call of this kind fails with this number; 0: it does half of its work
//   FAULT_STAYS  1: all later calls of this kind fail, too
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, STAT, MMAP, LOCK, CHMOD, LIST, COPY, KINDS };
static const char *const names[KINDS] = {"open",  "read", "write", "sync", "truncate", "rename", "unlink",
                                         "mkdir", "stat", "mmap",  "lock", "chmod",    "list",   "copy"};
static char root[PATH_MAX];
static int log_to = -1;
static int fails_at_kind = -1, fails_with, stays;
static unsigned fails_at;
static atomic_uint counts[KINDS];

__attribute__((constructor)) static void begin(void) {
  const char *where = getenv("FAULT_ROOT"), *log = getenv("FAULT_LOG"), *at = getenv("FAULT_AT");
  char kind[32];
  if (at && sscanf(at, "%31s %u %d", kind, &fails_at, &fails_with) == 3)
    for (int i = 0; i < KINDS; i++)
      if (!strcmp(kind, names[i])) fails_at_kind = i;
  stays = getenv("FAULT_STAYS") != NULL;
  if (log) log_to = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (where) strncpy(root, where, sizeof root - 1);
  unsetenv("LD_PRELOAD");
}

enum fate { GOES_ON, FAILS, IS_SHORT };

static enum fate fate_of(enum kind kind, const char *path) {
  if (!root[0] || !path || strncmp(path, root, strlen(root))) return GOES_ON;
  unsigned n = atomic_fetch_add(&counts[kind], 1) + 1;
  int is_hit = kind == (enum kind)fails_at_kind && (n == fails_at || (stays && n > fails_at));
  if (log_to >= 0) {
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s%s %u %s\n", is_hit ? "!" : "", names[kind], n, path);
    syscall(SYS_write, log_to, line, length);
  }
  if (!is_hit) return GOES_ON;
  if (!fails_with) return IS_SHORT;
  errno = fails_with;
  return FAILS;
}

static enum fate fate_of_fd(enum kind kind, int fd) {
  char link[64], path[PATH_MAX];
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return GOES_ON;
  path[length] = 0;
  return fate_of(kind, path);
}

// A path below an open folder, as the removal of folders uses it.
static enum fate fate_at(enum kind kind, int fd, const char *path) {
  return path && path[0] != '/' && fd != AT_FDCWD ? fate_of_fd(kind, fd) : fate_of(kind, path);
}

#define HALF(n) ((n) > 1 ? (n) / 2 : (n))
#define NEXT(name) \
  static __typeof__(name) *next; \
  if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define MODE \
  va_list more; \
  va_start(more, flags); \
  mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; \
  va_end(more)

#define OPENS(name) \
  int name(const char *path, int flags, ...) { \
    NEXT(name); \
    MODE; \
    return fate_of(OPEN, path) == FAILS ? -1 : next(path, flags, mode); \
  }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name) \
  int name(int fd, const char *path, int flags, ...) { \
    NEXT(name); \
    MODE; \
    return fate_at(OPEN, fd, path) == FAILS ? -1 : next(fd, path, flags, mode); \
  }
OPENS_AT(openat)
OPENS_AT(openat64)

#define MOVES_BYTES(name, kind, buffer, given, passed) \
  ssize_t name(int fd, buffer bytes, size_t length given) { \
    NEXT(name); \
    switch (fate_of_fd(kind, fd)) { \
    case FAILS: return -1; \
    case IS_SHORT: length = HALF(length); /* fall through */ \
    default: return next(fd, bytes, length passed); \
    } \
  }
#define AND ,
MOVES_BYTES(read, READ, void *, , )
MOVES_BYTES(pread, READ, void *, AND off_t at, AND at)
MOVES_BYTES(pread64, READ, void *, AND off64_t at, AND at)
MOVES_BYTES(write, WRITE, const void *, , )
MOVES_BYTES(pwrite, WRITE, const void *, AND off_t at, AND at)
MOVES_BYTES(pwrite64, WRITE, const void *, AND off64_t at, AND at)

#define MOVES_VECTOR(name, kind) \
  ssize_t name(int fd, const struct iovec *parts, int count) { \
    NEXT(name); \
    struct iovec half = count > 0 ? *parts : (struct iovec){0}; \
    half.iov_len = HALF(half.iov_len); \
    switch (fate_of_fd(kind, fd)) { \
    case FAILS: return -1; \
    case IS_SHORT: return next(fd, &half, count > 0); \
    default: return next(fd, parts, count); \
    } \
  }
MOVES_VECTOR(readv, READ)
MOVES_VECTOR(writev, WRITE)

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned flags) {
  NEXT(copy_file_range);
  switch (fate_of_fd(COPY, to)) {
  case FAILS: return -1;
  case IS_SHORT: length = HALF(length); // fall through
  default: return next(from, from_at, to, to_at, length, flags);
  }
}

// The result that tells of a failure is the same for all others: -1.
#define OTHER(result, name, fate, given, passed) \
  result name given { \
    NEXT(name); \
    return fate == FAILS ? (result)-1 : next passed; \
  }
OTHER(int, fsync, fate_of_fd(SYNC, fd), (int fd), (fd))
OTHER(int, fdatasync, fate_of_fd(SYNC, fd), (int fd), (fd))
OTHER(int, ftruncate, fate_of_fd(TRUNCATE, fd), (int fd, off_t to), (fd, to))
OTHER(int, ftruncate64, fate_of_fd(TRUNCATE, fd), (int fd, off64_t to), (fd, to))
OTHER(int, rename, fate_of(RENAME, to), (const char *from, const char *to), (from, to))
OTHER(int, renameat, fate_at(RENAME, b, to), (int a, const char *from, int b, const char *to), (a, from, b, to))
OTHER(int, link, fate_of(RENAME, to), (const char *from, const char *to), (from, to))
OTHER(int, linkat, fate_at(RENAME, b, to), (int a, const char *from, int b, const char *to, int f), (a, from, b, to, f))
OTHER(int, unlink, fate_of(UNLINK, path), (const char *path), (path))
OTHER(int, unlinkat, fate_at(UNLINK, fd, path), (int fd, const char *path, int flags), (fd, path, flags))
OTHER(int, rmdir, fate_of(UNLINK, path), (const char *path), (path))
OTHER(int, mkdir, fate_of(MKDIR, path), (const char *path, mode_t mode), (path, mode))
OTHER(int, stat, fate_of(STAT, path), (const char *path, struct stat *to), (path, to))
OTHER(int, stat64, fate_of(STAT, path), (const char *path, struct stat64 *to), (path, to))
OTHER(int, lstat, fate_of(STAT, path), (const char *path, struct stat *to), (path, to))
OTHER(int, lstat64, fate_of(STAT, path), (const char *path, struct stat64 *to), (path, to))
OTHER(int, fstat, fate_of_fd(STAT, fd), (int fd, struct stat *to), (fd, to))
OTHER(int, fstat64, fate_of_fd(STAT, fd), (int fd, struct stat64 *to), (fd, to))
OTHER(int, access, fate_of(STAT, path), (const char *path, int mode), (path, mode))
OTHER(int, flock, fate_of_fd(LOCK, fd), (int fd, int how), (fd, how))
OTHER(int, chmod, fate_of(CHMOD, path), (const char *path, mode_t mode), (path, mode))
OTHER(int, fchmod, fate_of_fd(CHMOD, fd), (int fd, mode_t mode), (fd, mode))

// dlsym() may allocate, and so map memory.
#define MAPS(name) \
  void *name(void *at, size_t length, int protection, int flags, int fd, off64_t from) { \
    if (fd >= 0 && fate_of_fd(MMAP, fd) == FAILS) return MAP_FAILED; \
    return (void *)syscall(SYS_mmap, at, length, protection, flags, fd, from); \
  }
MAPS(mmap)
MAPS(mmap64)

// Rust asks without a path whether there is this call, which the header forbids.
int statx_or_not(int, const char *, int, unsigned, struct statx *) __asm__("statx");
int statx_or_not(int fd, const char *path, int flags, unsigned mask, struct statx *to) {
  NEXT(statx);
  enum fate fate = path && path[0] ? fate_at(STAT, fd, path) : path ? fate_of_fd(STAT, fd) : GOES_ON;
  return fate == FAILS ? -1 : next(fd, path, flags, mask, to);
}

DIR *opendir(const char *path) {
  NEXT(opendir);
  return fate_of(LIST, path) == FAILS ? NULL : next(path);
}

struct dirent64 *readdir64(DIR *folder) {
  NEXT(readdir64);
  return fate_of_fd(LIST, dirfd(folder)) == FAILS ? NULL : next(folder);
}
