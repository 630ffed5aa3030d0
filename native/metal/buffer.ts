/** A buffer of a Metal device: shared memory of the GPU between sentinels. */
import { OwnedBuffer } from "../buffer.ts";
import type { NativeMemory } from "../memory.ts";

export class MetalBuffer extends OwnedBuffer<NativeMemory> {}
