/**
 * What the environment of a host must hold for Metal's validation, and for captures. Metal reads these variables once, before
 * the first device of a process: they are given to a child, never set in a process that runs.
 *
 * Sources: the manual page MetalValidation(1); Apple's pages on validating shader usage and on capturing programmatically.
 */
import type { HostEnvironment } from "../host/transport.ts";

interface Variable {
  readonly name: string;
  readonly value: string;
  readonly why: string;
}

const VALIDATION: readonly Variable[] = [
  { name: "MTL_DEBUG_LAYER", value: "1", why: "API validation" },
  {
    name: "MTL_DEBUG_LAYER_ERROR_MODE",
    value: "nslog",
    why: "an error is written and the run goes on; by default it aborts the process",
  },
  { name: "MTL_SHADER_VALIDATION", value: "1", why: "GPU validation: every pipeline is instrumented" },
  {
    name: "MTL_SHADER_VALIDATION_REPORT_TO_STDERR",
    value: "1",
    why: "by default reports go to the system's log alone, where nothing here reads them",
  },
];

const CAPTURE: readonly Variable[] = [
  { name: "MTL_CAPTURE_ENABLED", value: "1", why: "without it Metal answers that capturing is not supported" },
];

function environmentOf(variables: readonly Variable[]): HostEnvironment {
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}

export const VALIDATION_ENVIRONMENT: HostEnvironment = environmentOf(VALIDATION);
export const CAPTURE_ENVIRONMENT: HostEnvironment = environmentOf(CAPTURE);

/** `NAME=value` of what `wanted` has and `actual` has not, or has differently. */
export function missingEnvironment(
  actual: Readonly<Record<string, string | undefined>>,
  wanted: HostEnvironment,
): readonly string[] {
  return Object.entries(wanted).flatMap(([name, value]) => (actual[name] === value ? [] : [`${name}=${value}`]));
}
