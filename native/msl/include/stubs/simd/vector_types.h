// Empty: the standard library is the precompiled prefix of every kernel module.
