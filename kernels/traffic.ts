/**
 * Logical traffic of a route: what its threadgroups ask of device memory. A byte counts once for each pass of a
 * threadgroup over it, however many lanes ask for it; caches are not looked at, and neither are parameters and sequence
 * bounds. Derived from the kernels' loops, never counted.
 */

/** Bytes between one dispatch and one buffer. */
export interface TrafficEntry {
  readonly stage: string;
  readonly buffer: string;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** The formula with the numbers of the shape. */
  readonly formula: string;
}

export interface RouteTraffic {
  readonly route: string;
  readonly entries: readonly TrafficEntry[];
  readonly totalBytes: number;
}

/** Kinds of buffers that a stacked bar tells apart, in the order in which it stacks them. */
export const TRAFFIC_KINDS = ["K", "V", "scores", "partials", "Q", "out"] as const;
export type TrafficKind = (typeof TRAFFIC_KINDS)[number];

const KINDS: Readonly<Record<string, TrafficKind>> = {
  k: "K",
  k_nope: "K",
  k_rope: "K",
  v: "V",
  scores: "scores",
  partials: "partials",
  maxima: "partials",
  sums: "partials",
  numerators: "partials",
  q: "Q",
  q_nope: "Q",
  q_rope: "Q",
  out: "out",
  lse: "out",
};

export function read(stage: string, buffer: string, bytes: number, formula: string): TrafficEntry {
  return { stage, buffer, readBytes: bytes, writtenBytes: 0, formula };
}

export function write(stage: string, buffer: string, bytes: number, formula: string): TrafficEntry {
  return { stage, buffer, readBytes: 0, writtenBytes: bytes, formula };
}

export function routeTraffic(route: string, entries: readonly TrafficEntry[]): RouteTraffic {
  const totalBytes = entries.reduce((sum, { readBytes, writtenBytes }) => sum + readBytes + writtenBytes, 0);
  return { route, entries, totalBytes };
}

/** Bytes of each kind, those that a route does not move left out. */
export function bytesByKind({
  entries,
}: RouteTraffic): readonly { readonly kind: TrafficKind; readonly bytes: number }[] {
  return TRAFFIC_KINDS.map((kind) => ({
    kind,
    bytes: entries
      .filter(({ buffer }) => KINDS[buffer] === kind)
      .reduce((sum, { readBytes, writtenBytes }) => sum + readBytes + writtenBytes, 0),
  })).filter(({ bytes }) => bytes > 0);
}
