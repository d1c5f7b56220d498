/* Loaded before the C library: of the calls that change files, the one whose turn it is fails or kills the process. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long made, at;
static atomic_int error_, once;

/* From now on: the call number `first` fails with `error`, or kills where that is 0; all after it as well, or it alone. */
void fault_arm(long first, int error, int alone)
{
    made = 0;
    error_ = error;
    once = alone;
    at = first;
}

long fault_count(void)
{
    return made;
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

/* Of what a file was opened to be written to: what is read need not be closed well. */
static int written(int fd)
{
    const int before = errno, flags = fcntl(fd, F_GETFL);
    errno = before;
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && due(fd);
}

#define NEXT(name) static __typeof__(&name) next; if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define OF_FILE(result, name, parameters, arguments) \
    result name parameters { NEXT(name); return due(fd) ? -1 : next arguments; }
#define OF_PATH(name, parameters, arguments) \
    int name parameters { NEXT(name); return turn() ? -1 : next arguments; }

OF_FILE(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
OF_FILE(ssize_t, writev, (int fd, const struct iovec *data, int count), (fd, data, count))
OF_FILE(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t where), (fd, data, size, where))
OF_FILE(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t where), (fd, data, size, where))
OF_FILE(int, ftruncate, (int fd, off_t size), (fd, size))
OF_FILE(int, ftruncate64, (int fd, off64_t size), (fd, size))
OF_FILE(int, fsync, (int fd), (fd))
OF_FILE(int, fdatasync, (int fd), (fd))
OF_PATH(rename, (const char *from, const char *to), (from, to))
OF_PATH(renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
OF_PATH(renameat2, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))
OF_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
OF_PATH(link, (const char *from, const char *to), (from, to))
OF_PATH(symlink, (const char *from, const char *to), (from, to))
OF_PATH(unlink, (const char *path), (path))
OF_PATH(unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
OF_FILE(ssize_t, sendfile, (int fd, int from, off_t *where, size_t size), (fd, from, where, size))
OF_FILE(ssize_t, sendfile64, (int fd, int from, off64_t *where, size_t size), (fd, from, where, size))
OF_FILE(ssize_t, copy_file_range, (int from, off64_t *there, int fd, off64_t *here, size_t size, unsigned flags),
        (from, there, fd, here, size, flags))

/* A descriptor is gone, whatever is said of what was written to it. */
int close(int fd)
{
    NEXT(close);
    const int fails = written(fd), result = next(fd);
    if (!fails) return result;
    errno = error_;
    return -1;
}

/* A file that is made: opened so that it need not have been there. */
#define MAKES(name, first, firsts) \
    int name first { \
        NEXT(name); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); } \
        return flags & O_CREAT && turn() ? -1 : next firsts; }

MAKES(open, (const char *path, int flags, ...), (path, flags, mode))
MAKES(open64, (const char *path, int flags, ...), (path, flags, mode))
MAKES(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
MAKES(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

#define OPENS(name) \
    FILE *name(const char *path, const char *mode) { NEXT(name); return *mode != 'r' && turn() ? NULL : next(path, mode); }

OPENS(fopen)
OPENS(fopen64)

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
