/** A buffer of the emulated device: the addon's guarded memory, poisoned, with a label. */
import { type DeviceBuffer, DeviceError, POISON_WORD } from "../device.ts";
import type { SharedNativeMemory } from "../memory.ts";

export class EmulatedBuffer implements DeviceBuffer {
  readonly label: string;
  readonly bytes: number;
  readonly #memory: SharedNativeMemory;
  readonly #onRelease: (buffer: EmulatedBuffer) => void;
  #released = false;

  constructor(memory: SharedNativeMemory, bytes: number, label: string, onRelease: (buffer: EmulatedBuffer) => void) {
    this.#memory = memory;
    this.bytes = bytes;
    this.label = label;
    this.#onRelease = onRelease;
    memory.fill(POISON_WORD);
  }

  get released(): boolean {
    return this.#released;
  }

  get memory(): SharedNativeMemory {
    if (!this.#released) return this.#memory;
    throw new DeviceError(
      "dispatch_refused",
      `Buffer '${this.label}' (${this.bytes} bytes) was released: allocate a new one.`,
    );
  }

  write(offset: number, data: Uint8Array): void {
    this.memory.write(offset, data);
  }

  read(offset: number, length: number): Uint8Array {
    return this.memory.read(offset, length);
  }

  poison(): void {
    this.memory.fill(POISON_WORD);
  }

  sentinelIntact(): boolean {
    return this.memory.sentinelIntact();
  }

  release(): void {
    if (this.#released) return;
    this.#onRelease(this);
    this.#released = true;
    this.#memory.release();
  }
}
