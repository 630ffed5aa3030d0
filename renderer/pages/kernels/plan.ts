/** The table of a route for a shape, and texts of its sizes. Pure. */
import type { CaseShape, RoutePlan, Size3 } from "../../../kernels/route.ts";
import { routesFor } from "../../../kernels/routes.ts";

export type Planned =
  | { readonly plan: RoutePlan; readonly refusal: undefined }
  | { readonly plan: undefined; readonly refusal: string };

/** The table, or why the route has none for this shape. */
export function planFor(shape: CaseShape, name: string): Planned {
  const route = routesFor(shape.operator).find((entry) => entry.name === name);
  if (route === undefined) return { plan: undefined, refusal: `${shape.operator} has no route ${name}` };
  try {
    return { plan: route.plan(shape), refusal: undefined };
  } catch (error) {
    if (error instanceof RangeError) return { plan: undefined, refusal: error.message };
    throw error;
  }
}

/** `32 × 16 × 1`. */
export function sizeText3(size: Size3): string {
  return size.map((part) => part.toLocaleString("en-US")).join(" × ");
}

export function product3(size: Size3): number {
  return size[0] * size[1] * size[2];
}

/** Dynamic threadgroup memory of a dispatch, all indices together. */
export function dynamicBytes(lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** `parameters, 20 bytes` are bound behind the last buffer. */
export function bindings(buffers: readonly string[], params: Uint8Array): readonly string[] {
  return [...buffers.map((name, index) => `${index} ${name}`), `${buffers.length} params, ${params.length} B`];
}
