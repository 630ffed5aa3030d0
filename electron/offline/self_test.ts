/**
 * Whether the figures of this toolchain mean what is believed: kernels that hold 8, 48 and 256 floats at once. Registers must
 * rise with them; the first two must not spill, for every Apple GPU has 96 32-bit registers for a thread at least; the last
 * must, for none has 256. Where one of it does not hold, no figure of that architecture is given.
 */
import type { GpuFigures } from "./gpu_binary.ts";

/** Floats that each kernel holds at once. */
export const LIVE_FLOATS = [8, 48, 256] as const;

export function selfTestKernel(live: number): string {
  return `lockstep_self_test_${live}`;
}

/** A kernel whose values turn in a loop of unknown length: none can be computed again, so that all must be kept. */
function kernelText(live: number): string {
  const each = (line: (index: number) => string): string =>
    Array.from({ length: live }, (_, index) => line(index)).join("\n");
  return `kernel void ${selfTestKernel(live)}(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
    constant uint& rounds [[buffer(2)]], uint at [[thread_position_in_grid]]) {
${each((index) => `  float v${index} = in[at * ${live}u + ${index}u];`)}
  for (uint round = 0; round < rounds; ++round) {
    float first = v0;
${each((index) => `    v${index} = fma(v${index}, ${index === live - 1 ? "first" : `v${index + 1}`}, 0.5f);`)}
  }
  float sum = 0.0f;
${each((index) => `  sum += v${index};`)}
  out[at] = sum;
}
`;
}

/** The source of all kernels of the self-test. */
export function selfTestSource(): string {
  return `#include <metal_stdlib>\nusing namespace metal;\n\n${LIVE_FLOATS.map(kernelText).join("\n")}`;
}

/** Registers that a kernel of 8 floats takes at most: its values, addresses, the counter and some of the compiler's own. */
const NARROW_MOST = 40;

/** Why the figures cannot be believed; empty where they hold. In the order of `LIVE_FLOATS`. */
export function selfTestReasons([narrow, middle, wide]: readonly [
  GpuFigures,
  GpuFigures,
  GpuFigures,
]): readonly string[] {
  const reasons: string[] = [];
  if (narrow.registers < LIVE_FLOATS[0] || narrow.registers > NARROW_MOST) {
    reasons.push(`a kernel that holds 8 floats has ${narrow.registers} registers; 8 to ${NARROW_MOST} are expected`);
  }
  if (middle.registers < LIVE_FLOATS[1]) {
    reasons.push(`a kernel that holds 48 floats has ${middle.registers} registers; 48 at least are expected`);
  }
  for (const [live, figures] of [[LIVE_FLOATS[0], narrow] as const, [LIVE_FLOATS[1], middle] as const]) {
    if (figures.spillBytes !== 0)
      reasons.push(`a kernel that holds ${live} floats spills ${figures.spillBytes} bytes; none are expected`);
  }
  if (wide.spillBytes === 0) reasons.push("a kernel that holds 256 floats spills nothing; no Apple GPU holds them");
  if (!(narrow.registers < middle.registers && middle.registers <= wide.registers)) {
    reasons.push(
      `registers are ${narrow.registers}, ${middle.registers} and ${wide.registers} for 8, 48 and 256 floats; they must rise`,
    );
  }
  return reasons;
}
