/* The C library's headers on Linux read this list of missing functions; nothing here depends on it. */
