/**
 * Attributes that bind a kernel parameter to a number of the launch (MSL specification, section 5.2.3.6, "Kernel
 * Function Input Attributes"). The runtime names its enumerators the same.
 */
export const KERNEL_BUILTINS: ReadonlySet<string> = new Set([
  "thread_position_in_grid",
  "thread_position_in_threadgroup",
  "thread_index_in_threadgroup",
  "thread_index_in_simdgroup",
  "thread_index_in_quadgroup",
  "thread_execution_width",
  "threads_per_grid",
  "threads_per_threadgroup",
  "threads_per_simdgroup",
  "threadgroup_position_in_grid",
  "threadgroups_per_grid",
  "dispatch_threads_per_threadgroup",
  "simdgroup_index_in_threadgroup",
  "simdgroups_per_threadgroup",
  "dispatch_simdgroups_per_threadgroup",
  "quadgroup_index_in_threadgroup",
  "quadgroups_per_threadgroup",
  "dispatch_quadgroups_per_threadgroup",
  "grid_origin",
  "grid_size",
]);

/** Words that say where memory lies. */
export const ADDRESS_SPACES: ReadonlySet<string> = new Set(["device", "constant", "threadgroup", "thread"]);

/**
 * Attributes of MSL that mean nothing to a C++ compiler or that would trip over the keyword macros; the transform takes
 * them out. Standard and `clang::` attributes stay.
 */
export const MSL_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...KERNEL_BUILTINS,
  "buffer",
  "threadgroup",
  "texture",
  "sampler",
  "function_constant",
  "host_name",
  "kernel",
  "max_total_threads_per_threadgroup",
  "required_threads_per_threadgroup",
  "id",
  "user",
  "stitchable",
  "visible",
  "stage_in",
  "attribute",
]);
