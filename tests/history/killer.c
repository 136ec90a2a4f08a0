/* SPDX-License-Identifier: Apache-2.0
 * Loaded before libc: ends the process by SIGKILL at the n-th call that changes a file, or in the middle
 * of it. What is written elsewhere, as to a pipe, is not counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static long left;       /* calls until the end; 0: not armed */
static int in_middle;   /* half of the write is done first */

void killer_arm(long at, int middle)
{
    left = at;
    in_middle = middle;
}

static int is_last(void)
{
    return left > 0 && --left == 0;
}

static void end(void)
{
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

static int is_file(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRITE_AT(name, offset_type)                                                      \
    ssize_t name(int fd, const void *data, size_t bytes, offset_type offset)            \
    {                                                                                    \
        if (is_file(fd) && is_last()) {                                                  \
            if (in_middle) {                                                             \
                NEXT(name)(fd, data, bytes / 2, offset);                                 \
            }                                                                            \
            end();                                                                       \
        }                                                                                \
        return NEXT(name)(fd, data, bytes, offset);                                      \
    }

WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t bytes)
{
    if (is_file(fd) && is_last()) {
        if (in_middle) {
            NEXT(write)(fd, data, bytes / 2);
        }
        end();
    }
    return NEXT(write)(fd, data, bytes);
}

#define CHANGE(name, parameters, arguments)                                              \
    int name parameters                                                                  \
    {                                                                                    \
        if (is_last()) {                                                                 \
            end();                                                                       \
        }                                                                                \
        return NEXT(name) arguments;                                                     \
    }

CHANGE(ftruncate, (int fd, off_t bytes), (fd, bytes))
CHANGE(ftruncate64, (int fd, off64_t bytes), (fd, bytes))
CHANGE(fsync, (int fd), (fd))
CHANGE(fdatasync, (int fd), (fd))
CHANGE(unlink, (const char *path), (path))
CHANGE(rename, (const char *from, const char *to), (from, to))
