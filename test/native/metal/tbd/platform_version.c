/*
 * Stands for the part of compiler-rt that answers `@available`, which clang links into every program on a Mac. Linked
 * here, never run.
 */
__attribute__((visibility("hidden"))) int __isPlatformVersionAtLeast(unsigned platform, unsigned major, unsigned minor,
                                                                     unsigned subminor) {
  return (int)(platform + major + minor + subminor);
}
