/** A buffer of a device: guarded memory, poisoned, with a label. Each device has a class of its own, so that it knows its buffers. */
import { type DeviceBuffer, DeviceError, POISON_WORD } from "./device.ts";
import type { NativeMemory } from "./memory.ts";

export class OwnedBuffer<M extends NativeMemory> implements DeviceBuffer {
  readonly label: string;
  readonly bytes: number;
  readonly #memory: M;
  readonly #onRelease: (buffer: OwnedBuffer<M>) => void;
  #released = false;

  constructor(memory: M, bytes: number, label: string, onRelease: (buffer: OwnedBuffer<M>) => void) {
    this.#memory = memory;
    this.bytes = bytes;
    this.label = label;
    this.#onRelease = onRelease;
    memory.fill(POISON_WORD);
  }

  get released(): boolean {
    return this.#released;
  }

  get memory(): M {
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

/** Why the buffer of an argument cannot be used by the device that has `own`; undefined if it can. */
export function bufferProblem(
  argument: { readonly index: number; readonly buffer?: DeviceBuffer },
  own: ReadonlySet<DeviceBuffer>,
): string | undefined {
  const { buffer, index } = argument;
  if (buffer === undefined) return undefined;
  const what = `'${buffer.label}' at index ${index}`;
  if (buffer instanceof OwnedBuffer && buffer.released) {
    return `${what} (${buffer.bytes.toLocaleString("en-US")} bytes) was released`;
  }
  return own.has(buffer) ? undefined : `${what} was allocated by another device`;
}
