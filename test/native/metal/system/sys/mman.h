/* Stands for <sys/mman.h>. There is no memfd_create on macOS. */
#pragma once
#include <sys/types.h>
#define PROT_NONE 0x00
#define PROT_READ 0x01
#define PROT_WRITE 0x02
#define MAP_SHARED 0x0001
#define MAP_PRIVATE 0x0002
#define MAP_FIXED 0x0010
#define MAP_NORESERVE 0x0040
#define MAP_ANONYMOUS 0x1000
#define MAP_FAILED ((void *)-1)
extern "C" {
void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int mprotect(void *address, size_t bytes, int protection);
int munmap(void *address, size_t bytes);
}
