/* Loaded before the C library: of the allocations that a library asks for, the one whose turn it is fails. */

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static uintptr_t begin, end;
static long made, at;

/* From now on: that number `first` of those whose caller is between these addresses. */
void allocations_arm(uintptr_t from, uintptr_t to, long first)
{
    begin = from;
    end = to;
    made = 0;
    at = first;
}

long allocations_count(void)
{
    return made;
}

/* Bytes that are allocated. */
size_t allocations_held(void)
{
    const struct mallinfo2 found = mallinfo2();
    return found.uordblks + found.hblkhd;
}

#define FAILS(caller) ((uintptr_t)(caller) >= begin && (uintptr_t)(caller) < end && ++made == at)
#define OR_FAIL(allocated) (FAILS(__builtin_return_address(0)) ? (errno = ENOMEM, (void *)0) : (allocated))

void *malloc(size_t size)
{
    return OR_FAIL(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return OR_FAIL(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    return OR_FAIL(__libc_realloc(old, size));
}
