/** Memory outside the JavaScript heap that kernels, the native oracle and the native generator work on. */

/** Memory of an exact byte size between sentinels. JavaScript sees copies alone. */
export interface NativeMemory {
  readonly bytes: number;
  write(offset: number, data: Uint8Array): void;
  read(offset: number, length: number): Uint8Array;
  /** Sets every 32-bit word (a last partial word byte by byte) to `word`. */
  fill(word: number): void;
  sentinelIntact(): boolean;
  release(): void;
}

/**
 * Memory shared with the kernel runner. Laid out so that the byte after the last 16-byte unit is an unmapped guard page;
 * the gap of up to 15 bytes holds a sentinel.
 */
export interface SharedNativeMemory extends NativeMemory {
  /** Where another process of the same user opens it. */
  readonly path: string;
  /** Byte offset of the buffer inside the file at `path`. */
  readonly fileOffset: number;
}
