/** How the actual value of a predicate is known, by the predicate's id. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";
import { isSoft, KNOWN_BY } from "../../parts/known_by.ts";

type Profile = CallOutput<"dispatch.explain">["device"];

/** Predicates about the device, and the value of its profile that they look at; every other one is about the case. */
const DEVICE: Readonly<Record<string, "family" | "metalVersion" | "os" | "limits">> = {
  apple_family: "family",
  apple10: "family",
  metal_version: "metalVersion",
  metal_4: "metalVersion",
  macos_26_2: "os",
  threads_per_threadgroup: "limits",
  threadgroup_memory: "limits",
};

export function isDevicePredicate(id: string): boolean {
  return Object.hasOwn(DEVICE, id);
}

export interface KnownBy {
  readonly word: string;
  readonly source: string;
  /** Not read from anything: it supports no claim. */
  readonly soft: boolean;
}

export function knownBy(profile: Profile, id: string, policy: boolean): KnownBy {
  if (policy) return { word: "policy", source: "a rule of dispatch; a forced route passes over it", soft: false };
  const key = DEVICE[id];
  if (key === undefined) return { word: "case", source: "the shape at the left", soft: false };
  const { by, source } = profile[key];
  return { word: KNOWN_BY[by], source, soft: isSoft(by) };
}

/** `threads per threadgroup` of `threads_per_threadgroup`, with the terms that are no plain words. */
export function predicateTitle(id: string): string {
  const own: Readonly<Record<string, string>> = {
    apple_family: "GPU family",
    apple10: "GPU family",
    metal_version: "Metal language",
    metal_4: "Metal version",
    macos_26_2: "macOS",
    dtype_16_bit: "operand type",
    multiples_of_16: "widths of 16 × n",
    cu_seqlens: "sequence bounds",
    q_offset: "query positions",
  };
  return own[id] ?? id.replaceAll("_", " ");
}
