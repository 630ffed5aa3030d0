#error "There is no <sys/prctl.h> on macOS."
