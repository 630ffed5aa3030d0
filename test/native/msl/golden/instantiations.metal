#include <metal_stdlib>
using namespace metal;

// Explicit instantiations as kernels in the field write them.
template <typename T, int ROWS, int COLUMNS = ROWS * 2, typename Accumulator = float>
[[kernel, max_total_threads_per_threadgroup(ROWS * 32)]] void scale_rows(device T* x [[buffer(0)]],
                                                                         constant Accumulator& by [[buffer(1)]],
                                                                         device const metal::vec<T, 4>* v [[buffer(2)]],
                                                                         uint i [[thread_position_in_grid]]) {
  x[i] = T(x[i] * by);
}

template [[host_name("scale_rows_half_4")]] [[kernel]] void scale_rows<half, 4>(device half*, constant float&,
                                                                               device const half4*, uint);

#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;
#define instantiate_rows(type, rows) instantiate_kernel("rows_" #type "_" #rows, scale_rows, type, rows, 1)

instantiate_rows(float, 2)
instantiate_rows(bfloat, 8)

// The type of the function by a name, and a function as a template parameter.
typedef decltype(scale_rows<float, 16>) rows_t;
template [[host_name("scale_rows_typedef")]] kernel rows_t scale_rows<float, 16>;

template <typename T> void twice(thread T& x) { x += x; }
template <typename T, void (*change)(thread T&), short N>
kernel void apply(device T* x, ushort i [[thread_index_in_threadgroup]]) {
  T value = x[i];
  change(value);
  x[i] = value;
}
template [[host_name("apply_twice")]] kernel void apply<float, twice, (3 > 2 ? 4 : 5)>(device float*, ushort);

// An instantiation of something that is no kernel stays.
template void twice<float>(thread float&);

[[host_name("renamed")]] kernel void original(device float* x) {}
