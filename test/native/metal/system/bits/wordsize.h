/* The C library's headers on Linux look the word size up here; every Mac has 64 bits. */
#define __WORDSIZE 64
