/** What tests of the binding share: a connection, kernels compiled and built, and the proof that nothing is left over. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type {
  MetalCompileReply,
  MetalConnection,
  MetalDispatch,
  MetalPipelineHandle,
  MetalPipelineReply,
  MetalPipelineRequest,
} from "../../../../native/metal/binding.ts";
import type { StandIn } from "./open.ts";

export const MSL_3_1 = 3 * 65_536 + 1;

const PREFIX = "#include <metal_stdlib>\nusing namespace metal;\n";

/** Multiplies `n` floats by `factor`, or writes one float at `n` where `overrun` is set. */
export const SCALE = `${PREFIX}
kernel void scale(device float* data [[buffer(0)]], constant uint& n [[buffer(1)]], constant float& factor [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  if (i < n) data[i] *= factor;
}
`;

export const LOGGING = `#include <metal_stdlib>
#include <metal_logging>
using namespace metal;
constant os_log teller("test.lockstep", "kernels");
kernel void tells(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i == 3) teller.log_error("thread %d", int(i));
  out[i] = i;
}
`;

/** The default device. */
export async function connect({ metal }: StandIn, logging = false): Promise<MetalConnection> {
  const [first] = await metal.devices();
  if (first === undefined) throw new Error("The scenario has no device.");
  return await metal.open(first.registryId, { logging });
}

export async function compile(
  connection: MetalConnection,
  text: string,
  more: Partial<Parameters<MetalConnection["compile"]>[0]> = {},
): Promise<MetalCompileReply> {
  return await connection.compile({
    text,
    languageVersion: MSL_3_1,
    mathMode: "safe",
    macros: [],
    logging: false,
    ...more,
  });
}

/** Compiles and builds one function. Throws with Metal's words where the source is refused. */
export async function build(
  connection: MetalConnection,
  text: string,
  name: string,
  request: Partial<MetalPipelineRequest> = {},
  options: Partial<Parameters<MetalConnection["compile"]>[0]> = {},
): Promise<MetalPipelineReply> {
  const library = await compile(connection, text, options);
  if (!library.ok) throw new Error(library.error.words);
  return await connection.pipeline(library.library, {
    function: name,
    constants: [],
    maxTotalThreadsPerThreadgroup: null,
    requiredThreadsPerThreadgroup: null,
    archive: null,
    ...request,
  });
}

export async function scalePipeline(connection: MetalConnection): Promise<MetalPipelineHandle> {
  const built = await build(connection, SCALE, "scale");
  if (!built.ok) throw new Error(built.error.words);
  return built.pipeline;
}

export function word(value: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(value).buffer);
}

export function real(value: number): Uint8Array {
  return new Uint8Array(Float32Array.of(value).buffer);
}

/** Multiplies the first `n` of the floats in `memory` by `factor`. */
export function scaling(
  pipeline: MetalPipelineHandle,
  memory: ReturnType<MetalConnection["allocate"]>,
  { n, factor = 2, label = "scale", offset = 0 }: { n: number; factor?: number; label?: string; offset?: number },
): MetalDispatch {
  return {
    label,
    pipeline,
    threadgroups: [Math.ceil(n / 32), 1, 1],
    threadsPerThreadgroup: [32, 1, 1],
    bindings: [
      { index: 0, memory, offset },
      { index: 1, bytes: word(n) },
      { index: 2, bytes: real(factor) },
    ],
    threadgroupMemory: [],
  };
}

export function floats(memory: ReturnType<MetalConnection["allocate"]>): Float32Array {
  return new Float32Array(memory.read(0, memory.bytes).slice().buffer);
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/**
 * How many objects of the stand-in are alive once all that JavaScript has let go of is collected and what was in flight has
 * ended: waits for `least` of them or fewer, or without it until nothing more goes.
 */
export async function settled(standIn: StandIn, least?: number): Promise<number> {
  let last = -1;
  let same = 0;
  for (let i = 0; i < 100; i += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { alive } = standIn.objects();
    same = alive === last ? same + 1 : 0;
    last = alive;
    if (least === undefined ? same >= 3 : alive <= least) break;
  }
  return last;
}
