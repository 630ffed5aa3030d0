/* Stands for <sys/types.h>; comes first in every file, so that the C library's headers on Linux keep to these types. */
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef uint32_t __uint32_t;
typedef int32_t dev_t;
typedef uint32_t gid_t;
typedef uint64_t ino_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef int64_t off_t;
typedef int32_t pid_t;
typedef uint32_t sigset_t;
typedef long ssize_t;
typedef uint32_t uid_t;
#define __off_t_defined
#define __pid_t_defined
#define __sigset_t_defined
#define __ssize_t_defined
