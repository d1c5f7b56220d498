/* Loaded before the C library: of the calls that change files, the one whose turn it is fails or kills the process. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <fcntl.h>
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
OF_PATH(mkdir, (const char *path, mode_t mode), (path, mode))

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
