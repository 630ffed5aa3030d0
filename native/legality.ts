/**
 * Which dispatches are legal, on every device. Metal's debug layer would refuse the same ones; without it they are dropped
 * in silence.
 */
import type { DeviceLimits, Dispatch, DispatchArgument, Library, Size3 } from "./device.ts";

/** Alignment of buffer offsets (Metal feature set tables: 4 bytes for buffers of the device address space). */
const OFFSET_ALIGNMENT = 4;

/** What a dispatch is checked against, beyond what it says itself. */
export interface DispatchContext {
  readonly limits: DeviceLimits;
  readonly staticThreadgroupBytes: number;
  readonly maxThreads: number;
  /** True where padding is a part of what the kernel is given, so that it counts against the limit. */
  readonly countsPadding?: boolean;
  /** Why the buffer of an argument cannot be used (released, of another device), or undefined. */
  readonly bufferProblem: (argument: DispatchArgument) => string | undefined;
}

/** That a library has no such kernel, with the names that it has. */
export function unknownKernel({ source, functions }: Library, name: string): string {
  const names = functions.map((one) => one.name).join(", ") || "none";
  return `${source.path} has no kernel '${name}'; it has ${names}.`;
}

/** Why a pipeline cannot be limited to so many threads per threadgroup, or undefined. */
export function threadLimitProblem(wanted: number | undefined, limits: DeviceLimits): string | undefined {
  const most = limits.maxThreadsPerThreadgroup;
  if (wanted === undefined || (Number.isInteger(wanted) && wanted >= 1 && wanted <= most)) return undefined;
  return `maxTotalThreadsPerThreadgroup is ${count(wanted)}; it must be a whole number from 1 to ${count(most)}`;
}

/** Why the dispatch is illegal, with the limit and the actual value; undefined if it is legal. */
export function dispatchProblem(dispatch: Dispatch, context: DispatchContext): string | undefined {
  return (
    sizeProblem(dispatch, context) ??
    threadgroupMemoryProblem(dispatch, context) ??
    argumentProblem(dispatch, context) ??
    missingArgument(dispatch) ??
    shortArgument(dispatch) ??
    misalignedArgument(dispatch)
  );
}

function sizeProblem(dispatch: Dispatch, context: DispatchContext): string | undefined {
  const { threadgroups, threadsPerThreadgroup } = dispatch;
  const grid = badSize(threadgroups);
  if (grid !== undefined)
    return `threadgroups are ${shown(threadgroups)}; each must be a whole number from 1 to ${grid}`;
  const group = badSize(threadsPerThreadgroup);
  if (group !== undefined) {
    return `threads per threadgroup are ${shown(threadsPerThreadgroup)}; each must be a whole number from 1 to ${group}`;
  }
  const required = dispatch.pipeline.requiredThreadsPerThreadgroup;
  if (required?.some((extent, axis) => extent !== threadsPerThreadgroup[axis])) {
    return `threads per threadgroup are ${shown(threadsPerThreadgroup)}; the pipeline was built for ${shown(required)} and takes no others`;
  }
  const threads = threadsPerThreadgroup[0] * threadsPerThreadgroup[1] * threadsPerThreadgroup[2];
  if (threads <= context.maxThreads) return undefined;
  return `${shown(threadsPerThreadgroup)} = ${count(threads)} threads per threadgroup; the pipeline allows ${count(context.maxThreads)}: use a smaller threadgroup`;
}

const MAX_EXTENT = 0xffff_ffff;

function badSize(size: Size3): number | undefined {
  const isFine = size.every((extent) => Number.isInteger(extent) && extent >= 1 && extent <= MAX_EXTENT);
  return isFine ? undefined : MAX_EXTENT;
}

function threadgroupMemoryProblem(dispatch: Dispatch, context: DispatchContext): string | undefined {
  const { limits, staticThreadgroupBytes } = context;
  let dynamic = 0;
  const seen = new Set<number>();
  for (const { index, bytes } of dispatch.threadgroupMemory ?? []) {
    if (!Number.isInteger(index) || index < 0 || index >= limits.bufferSlots) {
      return `threadgroup memory index is ${index}; it must be from 0 to ${limits.bufferSlots - 1}`;
    }
    if (seen.has(index)) return `threadgroup memory index ${index} is set twice`;
    seen.add(index);
    const alignment = limits.threadgroupMemoryAlignmentBytes;
    if (!Number.isInteger(bytes) || bytes < 0 || bytes % alignment !== 0) {
      const mend = Number.isFinite(bytes)
        ? `: round it up to ${count(Math.ceil(Math.max(bytes, 0) / alignment) * alignment)}`
        : "";
      return `threadgroup memory ${index} is ${count(bytes)} bytes; its length must be a multiple of ${alignment}${mend}`;
    }
    dynamic += bytes;
  }
  for (const { index, bytes } of dispatch.threadgroupPadding ?? []) {
    if (!seen.has(index)) return `threadgroup padding is given for index ${index}, which has no dynamic memory`;
    const alignment = limits.threadgroupMemoryAlignmentBytes;
    if (!Number.isInteger(bytes) || bytes < 0 || bytes % alignment !== 0) {
      return `the padding of threadgroup memory ${index} is ${count(bytes)} bytes; it must be a multiple of ${alignment}`;
    }
  }
  const total = staticThreadgroupBytes + dynamic;
  if (total <= limits.maxThreadgroupMemoryBytes) {
    const padding = (dispatch.threadgroupPadding ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
    if (!context.countsPadding || total + padding <= limits.maxThreadgroupMemoryBytes) return undefined;
    return `threadgroup memory is ${count(total)} bytes and its padding ${count(padding)}; the limit is ${count(limits.maxThreadgroupMemoryBytes)}, and this device gives padding as memory: use a smaller tile`;
  }
  return `threadgroup memory is ${count(total)} bytes (${count(staticThreadgroupBytes)} static and ${count(dynamic)} dynamic); the limit is ${count(limits.maxThreadgroupMemoryBytes)}: use a smaller tile`;
}

function argumentProblem(dispatch: Dispatch, context: DispatchContext): string | undefined {
  const { limits } = context;
  const seen = new Set<number>();
  for (const argument of dispatch.arguments) {
    const { index } = argument;
    if (!Number.isInteger(index) || index < 0 || index >= limits.bufferSlots) {
      return `buffer index is ${index}; it must be from 0 to ${limits.bufferSlots - 1}`;
    }
    if (seen.has(index)) return `buffer index ${index} is bound twice`;
    seen.add(index);
    if ("bytes" in argument) {
      const length = argument.bytes.byteLength;
      if (length === 0 || length > limits.setBytesMax) {
        return `the inline bytes at index ${index} are ${count(length)} bytes; the limit is ${count(limits.setBytesMax)}: use a buffer`;
      }
      continue;
    }
    const problem = context.bufferProblem(argument);
    if (problem !== undefined) return problem;
    const { buffer, offset = 0 } = argument;
    if (!Number.isInteger(offset) || offset < 0 || offset >= buffer.bytes) {
      return `the offset into '${buffer.label}' at index ${index} is ${count(offset)}; the buffer has ${count(buffer.bytes)} bytes`;
    }
    if (offset % OFFSET_ALIGNMENT !== 0) {
      return `the offset into '${buffer.label}' at index ${index} is ${count(offset)}; it must be a multiple of ${OFFSET_ALIGNMENT}`;
    }
  }
  return undefined;
}

/** Dynamic threadgroup memory with what may be touched behind it. */
export function paddedMemory(dispatch: Dispatch): NonNullable<Dispatch["threadgroupMemory"]> {
  const padding = new Map((dispatch.threadgroupPadding ?? []).map((one) => [one.index, one.bytes] as const));
  return (dispatch.threadgroupMemory ?? []).map(({ index, bytes }) => ({
    index,
    bytes: bytes + (padding.get(index) ?? 0),
  }));
}

/** An argument that the kernel declares and that nothing is bound to. Binding what it does not declare is fine. */
function missingArgument(dispatch: Dispatch): string | undefined {
  const buffers = new Set(dispatch.arguments.map((argument) => argument.index));
  const memory = new Set((dispatch.threadgroupMemory ?? []).filter((one) => one.bytes > 0).map((one) => one.index));
  for (const argument of dispatch.pipeline.function.arguments ?? []) {
    const bound = argument.kind === "buffer" ? buffers : memory;
    if (bound.has(argument.index)) continue;
    const what = argument.kind === "buffer" ? `[[buffer(${argument.index})]]` : `[[threadgroup(${argument.index})]]`;
    const given = [...bound].sort((a, b) => a - b).join(", ") || "none";
    return `nothing is bound to '${argument.name}' ${what}; bound ${argument.kind} indices are ${given}`;
  }
  return undefined;
}

/** An argument of which less is bound than one pointee takes, as far as the device tells how much that is. */
function shortArgument(dispatch: Dispatch): string | undefined {
  for (const { kind, index, name, pointeeBytes } of dispatch.pipeline.function.arguments ?? []) {
    if (kind !== "buffer" || pointeeBytes === undefined) continue;
    const bound = dispatch.arguments.find((one) => one.index === index);
    if (bound === undefined) continue;
    const bytes = "bytes" in bound ? bound.bytes.byteLength : bound.buffer.bytes - (bound.offset ?? 0);
    if (bytes >= pointeeBytes) continue;
    return `${count(bytes)} bytes are bound to '${name}' [[buffer(${index})]]; the kernel reads ${count(pointeeBytes)} at least`;
  }
  return undefined;
}

/** An offset that does not fit the type that the kernel reads there, as far as the device tells what that takes. */
function misalignedArgument(dispatch: Dispatch): string | undefined {
  for (const { kind, index, name, alignmentBytes = 1 } of dispatch.pipeline.function.arguments ?? []) {
    const bound = dispatch.arguments.find((one) => one.index === index);
    if (kind !== "buffer" || bound === undefined || "bytes" in bound) continue;
    const { offset = 0 } = bound;
    if (offset % alignmentBytes === 0) continue;
    return `the offset of '${name}' [[buffer(${index})]] is ${count(offset)}; what the kernel reads there is aligned to ${alignmentBytes}: use a multiple of it`;
  }
  return undefined;
}

function shown(size: Size3): string {
  return size.map((extent) => count(extent)).join(" x ");
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
