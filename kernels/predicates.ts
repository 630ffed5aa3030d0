/** Builders of the predicates that routes state: what is required, what is there, and why. */
import type { PredicateResult, RouteCapabilities } from "./route.ts";

/** A predicate whose two sides are already words. */
export function predicate(
  id: string,
  requires: string,
  actual: string | number,
  holds: boolean,
  reason: string,
): PredicateResult {
  return { id, requires, actual: typeof actual === "number" ? actual.toLocaleString("en-US") : actual, holds, reason };
}

/** Compares versions such as "26.2" part by part. Negative, zero or positive as for sort; missing parts count as 0. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split(".").map((part) => Number.parseInt(part, 10) || 0));
  for (let index = 0; index < Math.max(a!.length, b!.length); index++) {
    const difference = (a![index] ?? 0) - (b![index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The threads of a route's largest dispatch and its threadgroup bytes against the device's limits. */
export function limitPredicates(
  capabilities: RouteCapabilities,
  threads: number,
  threadgroupBytes: number,
): readonly PredicateResult[] {
  return [
    predicate(
      "threads_per_threadgroup",
      `device launches at least ${threads.toLocaleString("en-US")} threads per threadgroup`,
      capabilities.maxThreadsPerThreadgroup,
      capabilities.maxThreadsPerThreadgroup >= threads,
      "a dispatch with more threads than the device launches is discarded",
    ),
    predicate(
      "threadgroup_memory",
      `${threadgroupBytes.toLocaleString("en-US")} bytes of static plus dynamic threadgroup memory`,
      `limit ${capabilities.maxThreadgroupMemoryBytes.toLocaleString("en-US")} bytes`,
      threadgroupBytes <= capabilities.maxThreadgroupMemoryBytes,
      "static plus dynamic threadgroup memory must fit the device",
    ),
  ];
}

/** simd_sum, simd_max and simd_shuffle_xor, and 8x8 matrices, are there from Apple7 on (Metal feature set tables). */
export function familyPredicate(capabilities: RouteCapabilities, needs: string): PredicateResult {
  return predicate(
    "apple_family",
    "Apple7 or later",
    `Apple${capabilities.appleFamily}`,
    capabilities.appleFamily >= 7,
    `${needs} are available from Apple7 on`,
  );
}

/** The kernels are written for MSL 3.1: bfloat, and what the lint table lists. */
export const KERNEL_LANGUAGE_VERSION = "3.1";

export function languagePredicate(capabilities: RouteCapabilities): PredicateResult {
  return predicate(
    "metal_version",
    `MSL ${KERNEL_LANGUAGE_VERSION} or later`,
    capabilities.metalVersion,
    compareVersions(capabilities.metalVersion, KERNEL_LANGUAGE_VERSION) >= 0,
    "the sources are compiled as MSL 3.1 (macOS 14)",
  );
}

/** Throws RangeError naming the first requirement that does not hold. */
export function requireAll(route: string, results: readonly PredicateResult[]): void {
  const failed = results.find((result) => !result.holds);
  if (failed) {
    throw new RangeError(`${route} needs ${failed.requires}, but it is ${failed.actual}: ${failed.reason}`);
  }
}
