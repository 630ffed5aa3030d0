/** Which MSL version a source is compiled as on this macOS, and why. */
import { DEFAULT_LANGUAGE_VERSION } from "../msl/preprocess.ts";
import type { MetalSystemFacts } from "./binding.ts";

/** The macOS that brought MTLLogState, and with it what kernels log. */
const LOGGING_MACOS = 15;
/** The macOS that brought MTLResidencySet. */
const RESIDENCY_MACOS = 15;

interface LanguageRow {
  readonly version: string;
  /** Major version of the first macOS whose run-time compiler takes it; 10 for all of macOS 10. */
  readonly macos: number;
}

/** MTLLanguageVersion and the macOS that brought it (API_AVAILABLE in MTLLibrary.h). */
export const LANGUAGES: readonly LanguageRow[] = [
  { version: "2.0", macos: 10 },
  { version: "2.1", macos: 10 },
  { version: "2.2", macos: 10 },
  { version: "2.3", macos: 11 },
  { version: "2.4", macos: 12 },
  { version: "3.0", macos: 13 },
  { version: "3.1", macos: 14 },
  { version: "3.2", macos: 15 },
  { version: "4.0", macos: 26 },
];

export type LanguageChoice =
  | {
      readonly ok: true;
      readonly version: string;
      /** Raw MTLLanguageVersion: major << 16 | minor. */
      readonly raw: number;
      readonly reason: string;
    }
  | { readonly ok: false; readonly problem: string };

/** First number of `26.1.0`; 0 where there is none. */
export function macosMajor(osVersion: string): number {
  return Number.parseInt(osVersion, 10) || 0;
}

/**
 * Why what came with a version of macOS cannot be used; undefined if it can. It takes that macOS, and an addon that was
 * built with its SDK or a later one.
 * @param what as the subject of a sentence: `MTLLogState`
 */
function macosProblem(
  what: string,
  major: number,
  { osVersion, sdkVersion }: Pick<MetalSystemFacts, "osVersion" | "sdkVersion">,
): string | undefined {
  if (macosMajor(osVersion) < major) return `${what} needs macOS ${major}; this is ${osVersion}`;
  const built = Math.floor(sdkVersion / 10_000);
  if (built < major)
    return `${what} needs an addon built with the SDK of macOS ${major}; this one was with that of ${built}`;
  return undefined;
}

/** Why Metal does not tell what kernels log; undefined if it does. Its log state needs a residency set. */
export function loggingProblem(
  system: Pick<MetalSystemFacts, "osVersion" | "sdkVersion">,
  isVirtual: boolean,
): string | undefined {
  return macosProblem("MTLLogState", LOGGING_MACOS, system) ?? (isVirtual ? "a virtual GPU has none" : undefined);
}

/** Why memory is not kept resident in sets; undefined if it is. */
export function residencyProblem(
  system: Pick<MetalSystemFacts, "osVersion" | "sdkVersion">,
  isVirtual: boolean,
): string | undefined {
  return macosProblem("MTLResidencySet", RESIDENCY_MACOS, system) ?? (isVirtual ? "a virtual GPU has none" : undefined);
}

/** The newest MSL version that the run-time compiler of this macOS takes. Undefined below macOS 10. */
export function newestLanguage(osVersion: string): string | undefined {
  const major = macosMajor(osVersion);
  return LANGUAGES.findLast((row) => row.macos <= major)?.version;
}

/**
 * The version that the source asks for, else the newest of this macOS, but none above `ceiling`: a source sees the same
 * `__METAL_VERSION__` on both devices wherever macOS allows it.
 * @param wanted `CompileOptions.languageVersion`
 * @param osVersion `26.1.0`
 */
export function chooseLanguage(
  wanted: string | undefined,
  osVersion: string,
  ceiling: string = DEFAULT_LANGUAGE_VERSION,
): LanguageChoice {
  const newest = newestLanguage(osVersion);
  if (newest === undefined) return { ok: false, problem: `macOS ${osVersion} has no run-time compiler that is known` };
  if (wanted === undefined) {
    if (isAfter(newest, ceiling)) {
      const reason = `the source asks for none; MSL ${ceiling} is what sources without a version get, macOS ${osVersion} has up to ${newest}`;
      return chosen(ceiling, reason);
    }
    return chosen(newest, `the source asks for none; the newest of macOS ${osVersion}`);
  }
  const row = LANGUAGES.find((one) => one.version === wanted);
  if (row === undefined) {
    const known = LANGUAGES.map((one) => one.version).join(", ");
    return { ok: false, problem: `MSL version '${wanted}' is not known; known are ${known}` };
  }
  if (row.macos > macosMajor(osVersion)) {
    const problem = `the source asks for MSL ${wanted}, which needs macOS ${row.macos}; this is macOS ${osVersion} with MSL ${newest} at most: update macOS, or ask for ${newest}`;
    return { ok: false, problem };
  }
  return chosen(wanted, "the source asks for it");
}

function chosen(version: string, reason: string): LanguageChoice {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return { ok: true, version, raw: major * 65_536 + minor, reason };
}

function isAfter(version: string, other: string): boolean {
  const order = LANGUAGES.map((row) => row.version);
  return order.indexOf(version) > order.indexOf(other);
}
