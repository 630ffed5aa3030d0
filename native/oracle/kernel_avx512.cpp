#include "kernel.h"

#if defined(__x86_64__)

#define LOCKSTEP_LANES 8
#define LOCKSTEP_TILE 8

namespace lockstep::oracle {
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma,f16c"))), apply_to = function)
namespace avx512 {
#include "kernel_body.h"
}  // namespace avx512
#pragma clang attribute pop

const Kernels kAvx512Kernels = {"avx512", avx512::kLanes, avx512::attend, avx512::widen};

}  // namespace lockstep::oracle

#endif
