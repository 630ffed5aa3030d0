#include "kernel.h"

#if defined(__x86_64__)

#define LOCKSTEP_LANES 4
#define LOCKSTEP_TILE 4

namespace lockstep::oracle {
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
namespace avx2 {
#include "kernel_body.h"
}  // namespace avx2
#pragma clang attribute pop

const Kernels kAvx2Kernels = {"avx2", avx2::kLanes, avx2::attend, avx2::widen};

}  // namespace lockstep::oracle

#endif
