/* Stands for <sys/sysctl.h> of macOS. Source: SDK 14.2. */
#pragma once
#include <stddef.h>
extern "C" int sysctlbyname(const char *name, void *value, size_t *valueBytes, void *newValue, size_t newBytes);
