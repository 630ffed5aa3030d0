/**
 * The one registry of actions. The command line reads it now; menu, palette and shortcuts will read the same list, so that
 * every click can show the command that does the same.
 */
import { type CasesOptions, cases } from "./cli/cases.ts";
import { devices } from "./cli/devices.ts";
import { type DispatchCommandOptions, explainDispatch } from "./cli/dispatch.ts";
import type { Output } from "./cli/output.ts";
import { type ParityOptions, parity } from "./cli/parity.ts";
import { verify } from "./cli/verify.ts";
import type { Places } from "./host/root.ts";

export interface ActionOption {
  /** As commander takes it: `--suite <name>`. */
  readonly flags: string;
  readonly description: string;
}

export interface ActionContext {
  readonly places: Places;
  readonly output: Output;
  /** The words of the command line, for the record. */
  readonly argv: readonly string[];
}

/** Values of options and arguments by name. */
export type ActionValues = Readonly<Record<string, string | boolean | undefined>>;

export interface Action {
  /** Name of the command. */
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** Positional argument, required. */
  readonly argument?: { readonly name: string; readonly description: string };
  readonly options: readonly ActionOption[];
  /** Resolves with the exit code. */
  readonly run: (values: ActionValues, context: ActionContext) => Promise<number>;
}

const JSON_OPTION: ActionOption = { flags: "--json", description: "standard output holds only JSON" };

const CHIP_OPTION: ActionOption = {
  flags: "--chip <name>",
  description: "chip or family to emulate: M3 Max, M5, apple9 (default: M3 Max)",
};

const CASE_OPTIONS: readonly ActionOption[] = [
  { flags: "--suite <name>", description: "quick, standard or full (default: standard)" },
  { flags: "--inputs <file>", description: "cases of a safetensors file instead of a suite" },
];

export const ACTIONS: readonly Action[] = [
  {
    id: "parity",
    title: "Run parity",
    summary: "run kernels and oracle on the same inputs, judge them by the gates, write an evidence bundle",
    options: [
      ...CASE_OPTIONS,
      { flags: "--operator <name>", description: "gqa_decode or mla_prefill" },
      { flags: "--route <name>", description: "one route, or a family of them: fused_split_kv" },
      { flags: "--case <key>", description: "one case by key or name, or all whose key contains the text" },
      { flags: "--device <name>", description: "emulated, emulated:apple9 (default: the machine's own)" },
      CHIP_OPTION,
      { flags: "--seed <n>", description: "seed of the generated cases (default: 0x5eed0001)" },
      { flags: "--out <dir>", description: "folder for the bundle, made if missing (default: evidence)" },
      { flags: "--outputs <file>", description: "judge outputs that another engine computed for the same inputs" },
      { flags: "--producer <file>", description: "JSON with engine, chip, os, toolchain, build, command of --outputs" },
      { flags: "--timeout <seconds>", description: "limit for one submission (default: 120)" },
      { flags: "--workers <n>", description: "threads of the emulation (default: one a core)" },
      JSON_OPTION,
    ],
    run: (values, { places, output, argv }) => parity(values as ParityOptions, argv, places, output),
  },
  {
    id: "verify",
    title: "Verify a bundle",
    summary: "check a bundle's files, digests and verdicts; exit 1 on any difference",
    argument: { name: "dir", description: "folder of the bundle" },
    options: [JSON_OPTION],
    run: async (values, { output }) => verify(String(values.dir), { json: values.json === true }, output),
  },
  {
    id: "dispatch",
    title: "Explain dispatch",
    summary: "which route a case takes on a device, with every requirement and its actual value",
    options: [
      ...CASE_OPTIONS,
      { flags: "--case <key>", description: "a case by key or name (default: the production shapes)" },
      { flags: "--route <name>", description: "force a route" },
      { flags: "--device <name>", description: "emulated, emulated:apple9" },
      CHIP_OPTION,
      JSON_OPTION,
    ],
    run: async (values, { places, output }) => explainDispatch(values as DispatchCommandOptions, places, output),
  },
  {
    id: "devices",
    title: "Show devices",
    summary: "each device and, for what is not there, why and the mend",
    options: [CHIP_OPTION, JSON_OPTION],
    run: (values, { output }) => devices(values, output),
  },
  {
    id: "cases",
    title: "List cases",
    summary: "the cases of a suite or of a file",
    options: [...CASE_OPTIONS, JSON_OPTION],
    run: async (values, { places, output }) => cases(values as CasesOptions, places, output),
  },
];
