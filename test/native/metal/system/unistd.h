/* Stands for <unistd.h>. */
#pragma once
#include <sys/types.h>
#define F_OK 0
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define _SC_PAGESIZE 29
extern "C" {
[[noreturn]] void _exit(int status);
int access(const char *path, int mode);
int close(int file);
int ftruncate(int file, off_t length);
pid_t getpid(void);
int pause(void);
int pipe(int files[2]);
ssize_t read(int file, void *bytes, size_t count);
int syscall(int number, ...); // the C++ library on Linux calls it
long sysconf(int name);
int unlink(const char *path);
ssize_t write(int file, const void *bytes, size_t count);
}
