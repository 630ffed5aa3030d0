/* Stands for <dirent.h>. */
#pragma once
#include <sys/types.h>
struct dirent {
  ino_t d_ino;
  uint64_t d_seekoff;
  uint16_t d_reclen;
  uint16_t d_namlen;
  uint8_t d_type;
  char d_name[1024];
};
struct DIR;
extern "C" {
int closedir(DIR *folder);
DIR *opendir(const char *path);
dirent *readdir(DIR *folder);
}
