/** How much memory may be allocated: more than the GPU keeps resident is refused before Metal is asked for it. */
import type { MetalDeviceFacts } from "./binding.ts";

/**
 * Why `bytes` more cannot be allocated, with both sides; undefined if they can.
 * @param allocated bytes that the process has from Metal already; asked only where it matters
 */
export function allocationProblem(
  bytes: number,
  label: string,
  limits: Pick<MetalDeviceFacts, "maxBufferBytes" | "recommendedMaxWorkingSetBytes">,
  allocated: () => number,
): string | undefined {
  const what = `Buffer '${label}'`;
  if (!Number.isSafeInteger(bytes) || bytes < 1) return `${what} cannot have ${bytes} bytes: it needs at least 1.`;
  const { maxBufferBytes, recommendedMaxWorkingSetBytes } = limits;
  if (bytes > maxBufferBytes) {
    return `${what} is ${figure(bytes)} bytes; the largest buffer of this device is ${figure(maxBufferBytes)} (maxBufferLength): use a shorter context.`;
  }
  // Virtual GPUs recommend none.
  if (recommendedMaxWorkingSetBytes === 0) return undefined;
  const before = allocated();
  const total = before + bytes;
  if (total <= recommendedMaxWorkingSetBytes) return undefined;
  return `${what} is ${figure(bytes)} bytes, ${figure(total)} with the ${figure(before)} allocated before; this device recommends ${figure(recommendedMaxWorkingSetBytes)} at most (recommendedMaxWorkingSetSize): release buffers or use a shorter context.`;
}

function figure(value: number): string {
  return value.toLocaleString("en-US");
}
