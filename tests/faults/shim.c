/* Loaded before the C library: of the calls that change files, the one whose turn it is fails or kills the process. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long made, at;
static atomic_int error_, once, kept;

/* From now on: the call number `first` fails with `error`, or kills where that is 0; all after it as well, or it alone. */
void fault_arm(long first, int error, int alone)
{
    made = kept = 0;
    error_ = error;
    once = alone;
    at = first;
}

long fault_count(void)
{
    return made;
}

/* Whether something could not be removed. */
int fault_kept(void)
{
    return kept;
}

static int turn(void)
{
    if (!at) return 0;
    const long k = ++made;
    if (once ? k != at : k < at) return 0;
    if (!error_) kill(getpid(), SIGKILL);
    errno = error_;
    return 1;
}

/* Regular files and folders, but for what a process says. */
static int due(int fd)
{
    struct stat found;
    const int before = errno;
    if (fd <= 2 || fstat(fd, &found)) return 0;
    errno = before;
    return (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode)) && turn();
}

#define NEXT(name) static __typeof__(&name) next; if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define OF_FILE(result, name, parameters, arguments) \
    result name parameters { NEXT(name); return due(fd) ? -1 : next arguments; }
#define OF_PATH(name, parameters, arguments) \
    int name parameters { NEXT(name); return turn() ? -1 : next arguments; }
#define REMOVES(name, parameters, arguments) \
    int name parameters { NEXT(name); if (turn()) { kept = 1; return -1; } return next arguments; }
#define OPENS(name, parameters, arguments) \
    int name parameters \
    { \
        NEXT(name); \
        va_list more; \
        va_start(more, flags); \
        const int made_there = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE; \
        const mode_t mode = made_there ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        return (made_there || flags & O_TRUNC) && turn() ? -1 : next arguments; \
    }
#define STREAM(name) \
    FILE *name(const char *path, const char *mode) \
    { \
        NEXT(name); \
        return (*mode != 'r' || strchr(mode, '+')) && turn() ? NULL : next(path, mode); \
    }

OPENS(open, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, (int at_, const char *path, int flags, ...), (at_, path, flags, mode))
OPENS(openat64, (int at_, const char *path, int flags, ...), (at_, path, flags, mode))
OF_PATH(creat, (const char *path, mode_t mode), (path, mode))
OF_PATH(creat64, (const char *path, mode_t mode), (path, mode))
STREAM(fopen)
STREAM(fopen64)
OF_FILE(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
OF_FILE(ssize_t, writev, (int fd, const struct iovec *data, int count), (fd, data, count))
OF_FILE(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t where), (fd, data, size, where))
OF_FILE(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t where), (fd, data, size, where))
OF_FILE(ssize_t, pwritev, (int fd, const struct iovec *data, int count, off_t where), (fd, data, count, where))
OF_FILE(ssize_t, pwritev64, (int fd, const struct iovec *data, int count, off64_t where), (fd, data, count, where))
OF_FILE(ssize_t, sendfile, (int fd, int from, off_t *where, size_t size), (fd, from, where, size))
OF_FILE(ssize_t, sendfile64, (int fd, int from, off64_t *where, size_t size), (fd, from, where, size))
OF_FILE(ssize_t, copy_file_range, (int from, off64_t *there, int fd, off64_t *here, size_t size, unsigned flags),
        (from, there, fd, here, size, flags))
OF_FILE(int, ftruncate, (int fd, off_t size), (fd, size))
OF_FILE(int, ftruncate64, (int fd, off64_t size), (fd, size))
OF_FILE(int, fsync, (int fd), (fd))
OF_FILE(int, fdatasync, (int fd), (fd))
OF_PATH(truncate, (const char *path, off_t size), (path, size))
OF_PATH(truncate64, (const char *path, off64_t size), (path, size))
OF_PATH(rename, (const char *from, const char *to), (from, to))
OF_PATH(renameat, (int there, const char *from, int here, const char *to), (there, from, here, to))
OF_PATH(renameat2, (int there, const char *from, int here, const char *to, unsigned flags),
        (there, from, here, to, flags))
OF_PATH(link, (const char *from, const char *to), (from, to))
OF_PATH(linkat, (int there, const char *from, int here, const char *to, int flags), (there, from, here, to, flags))
OF_PATH(symlink, (const char *to, const char *path), (to, path))
OF_PATH(symlinkat, (const char *to, int there, const char *path), (to, there, path))
OF_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
OF_PATH(mkdirat, (int there, const char *path, mode_t mode), (there, path, mode))
REMOVES(unlink, (const char *path), (path))
REMOVES(unlinkat, (int there, const char *path, int flags), (there, path, flags))
REMOVES(rmdir, (const char *path), (path))

/* A file that was written is closed though it tells an error. */
int close(int fd)
{
    NEXT(close);
    const int flags = fcntl(fd, F_GETFL), failed = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && due(fd);
    const int done = next(fd);
    if (failed) errno = error_;
    return failed ? -1 : done;
}

/* These give the error back. */
int posix_fallocate(int fd, off_t where, off_t size)
{
    NEXT(posix_fallocate);
    return due(fd) ? error_ : next(fd, where, size);
}

int posix_fallocate64(int fd, off64_t where, off64_t size)
{
    NEXT(posix_fallocate64);
    return due(fd) ? error_ : next(fd, where, size);
}
