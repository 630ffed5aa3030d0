/* Stands for <sys/stat.h>. */
#pragma once
#include <sys/types.h>
struct stat {
  dev_t st_dev;
  mode_t st_mode;
  nlink_t st_nlink;
  ino_t st_ino;
  off_t st_size;
};
extern "C" {
int fstat(int file, struct stat *info);
int stat(const char *path, struct stat *info);
}
