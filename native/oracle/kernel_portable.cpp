#include "kernel.h"

// 16-byte vectors: SSE2 on x86-64, NEON on arm64.
#define LOCKSTEP_LANES 2
#define LOCKSTEP_TILE 4

namespace lockstep::oracle {
namespace portable {
#include "kernel_body.h"
}  // namespace portable

const Kernels kPortableKernels = {"portable", portable::kLanes, portable::attend, portable::widen};

}  // namespace lockstep::oracle
