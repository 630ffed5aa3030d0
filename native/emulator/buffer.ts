/** A buffer of the emulated device: memory that the runner maps by path. */
import { OwnedBuffer } from "../buffer.ts";
import type { SharedNativeMemory } from "../memory.ts";

export class EmulatedBuffer extends OwnedBuffer<SharedNativeMemory> {}
