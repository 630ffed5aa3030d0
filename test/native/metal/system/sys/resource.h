/* Stands for <sys/resource.h>. */
#pragma once
#include <stdint.h>
#define RLIMIT_CORE 4
typedef uint64_t rlim_t;
struct rlimit {
  rlim_t rlim_cur;
  rlim_t rlim_max;
};
extern "C" int setrlimit(int resource, const struct rlimit *limit);
