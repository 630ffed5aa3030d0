/** How much memory a case may take on this machine. */
import os from "node:os";

/** Share of all memory that counts as available where the system does not tell. */
const SHARE = 0.5;

/**
 * Bytes that a case may take. On macOS Node tells only the pages that are free at this moment, and macOS keeps few of them
 * free: there it is half of all memory, or more where more is free.
 */
export function availableMemory(platform: NodeJS.Platform = process.platform): number {
  const told = process.availableMemory();
  return platform === "darwin" ? Math.max(told, Math.floor(os.totalmem() * SHARE)) : told;
}
