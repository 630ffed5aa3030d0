/* Stands for <fcntl.h>. */
#pragma once
#include <sys/types.h>
#define O_RDWR 0x0002
#define O_CLOEXEC 0x01000000
#define F_SETFD 2
#define FD_CLOEXEC 1
extern "C" {
int fcntl(int file, int command, ...);
int open(const char *path, int flags, ...);
}
