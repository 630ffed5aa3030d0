/* Stands for <errno.h>: where the number is kept. Its names and values are those of Linux. */
#pragma once
#include_next <errno.h>
#undef errno
extern "C" int *__error(void);
#define errno (*__error())
