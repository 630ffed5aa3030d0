/** Shapes and devices that tests of routes ask about. */
import type { DecodeShape, RouteCapabilities } from "../../kernels/route.ts";

/** Gemma 4's decode at 65,536 tokens, with no room to spare. */
export const LONG_DECODE: DecodeShape = {
  operator: "gqa_decode",
  heads: 32,
  kvHeads: 4,
  dim: 512,
  live: 65_536,
  capacity: 65_536,
  scale: 1,
  dtype: "f32",
};

export const M5: RouteCapabilities = {
  appleFamily: 10,
  metalVersion: "4.0",
  macos: "26.2",
  maxThreadsPerThreadgroup: 1024,
  maxThreadgroupMemoryBytes: 32_768,
};

export const M3: RouteCapabilities = { ...M5, appleFamily: 9 };
