/* Stands for <dlfcn.h>. */
#pragma once
#define RTLD_NOW 0x2
#define RTLD_LOCAL 0x4
extern "C" {
int dlclose(void *library);
char *dlerror(void);
void *dlopen(const char *path, int mode);
void *dlsym(void *library, const char *name);
}
