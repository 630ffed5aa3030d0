/**
 * The one registry of actions. The command line reads `COMMANDS`; menu, palette, shortcuts, buttons and the sheet of
 * shortcuts read `WINDOW_ACTIONS`, so that every click can show the command that does the same. Plain data and pure
 * functions: the window imports it.
 */
import type { StartRequest } from "./contract.ts";
import { shellQuote } from "./words.ts";

export interface CommandOption {
  /** As commander takes it: `--suite <name>`. */
  readonly flags: string;
  readonly description: string;
  /** May be given several times; the values are then joined by commas. */
  readonly repeatable?: true;
}

export interface Command {
  /** Name of the command. */
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** Positional arguments; all are required but those that say otherwise. */
  readonly arguments?: readonly { readonly name: string; readonly description: string; readonly optional?: true }[];
  readonly options: readonly CommandOption[];
}

const JSON_OPTION: CommandOption = { flags: "--json", description: "standard output holds only JSON" };

const DEVICE_OPTION: CommandOption = {
  flags: "--device <name>",
  description: "metal, metal:1, emulated, emulated:apple9 (default: Metal where there is one, else emulated)",
};

const CHIP_OPTION: CommandOption = {
  flags: "--chip <name>",
  description: "chip or family to emulate: M3 Max, M5, apple9 (default: M3 Max)",
};

const CASE_OPTIONS: readonly CommandOption[] = [
  { flags: "--suite <name>", description: "quick, standard or full (default: standard)" },
  { flags: "--inputs <file>", description: "cases of a safetensors file instead of a suite" },
];

const MANIFEST_OPTIONS: readonly CommandOption[] = [
  { flags: "--root <dir>", description: "folder that the sources lie below (default: the manifest's)" },
  {
    flags: "--set <name=value>",
    description: "a size of the manifest; repeat it, or list: N=64,D=128",
    repeatable: true,
  },
  { flags: "--timeout <seconds>", description: "limit for one submission (default: 120)" },
];

/** The commands of the command line. */
export const COMMANDS = [
  {
    id: "parity",
    title: "Run parity",
    summary: "run kernels and oracle on the same inputs, judge them by the gates, write an evidence bundle",
    options: [
      ...CASE_OPTIONS,
      { flags: "--operator <name>", description: "gqa_decode or mla_prefill" },
      { flags: "--route <name>", description: "one route, or a family of them: fused_split_kv" },
      { flags: "--case <key>", description: "one case by key or name, or all whose key contains the text" },
      DEVICE_OPTION,
      CHIP_OPTION,
      {
        flags: "--validation",
        description: "under Metal's API and shader validation, which must stay silent; its times are no timings",
      },
      { flags: "--seed <n>", description: "seed of the generated cases (default: 0x5eed0001)" },
      { flags: "--out <dir>", description: "folder for the bundle, made if missing (default: evidence)" },
      { flags: "--outputs <file>", description: "judge outputs that another engine computed for the same inputs" },
      { flags: "--producer <file>", description: "JSON with engine, chip, os, toolchain, build, command of --outputs" },
      { flags: "--timeout <seconds>", description: "limit for one submission (default: 120)" },
      { flags: "--workers <n>", description: "threads of the emulation (default: one a core)" },
      JSON_OPTION,
    ],
  },
  {
    id: "run",
    title: "Run a kernel of a manifest",
    summary: "run any kernel by its manifest, let the checker look first, judge the result by the oracle and the gates",
    arguments: [{ name: "manifest", description: "KERNEL.kernel.json; docs/kernel-manifest.md says what is in it" }],
    options: [
      ...MANIFEST_OPTIONS,
      DEVICE_OPTION,
      CHIP_OPTION,
      {
        flags: "--flavour <name>",
        description: "fast, lockstep, check or check+lockstep (default: what the checker says)",
      },
      { flags: "--workers <n>", description: "threads of the emulation (default: one a core)" },
      JSON_OPTION,
    ],
  },
  {
    id: "check",
    title: "Check a kernel of a manifest",
    summary: "races, bounds, unwritten memory and traffic of any kernel; exit 1 on an error-level report",
    arguments: [{ name: "manifest", description: "KERNEL.kernel.json", optional: true }],
    options: [
      ...MANIFEST_OPTIONS,
      { flags: "--device <name>", description: "emulated, emulated:apple9: the checker is the emulated device's" },
      CHIP_OPTION,
      { flags: "--traffic", description: "bytes read and written, by buffer and by source line" },
      { flags: "--all", description: "benign reports as well" },
      { flags: "--sarif <file>", description: "write the reports as SARIF 2.1.0, for editors and code hosts" },
      { flags: "--schema", description: "print the JSON Schema of manifests instead" },
      JSON_OPTION,
    ],
  },
  {
    id: "mutate",
    title: "Plant faults in the kernels",
    summary: "plant one fault at a time in the project's own kernels and say which gate or report caught it",
    options: [
      { flags: "--sample", description: "a tenth of the mutants" },
      { flags: "--seed <n>", description: "which tenth (default: 1)" },
      { flags: "--only <text>", description: "mutants whose id contains the text" },
      { flags: "--table <file>", description: "write the table in Markdown as well" },
      JSON_OPTION,
    ],
  },
  {
    id: "verify",
    title: "Verify a bundle",
    summary: "check a bundle's files, digests and verdicts, and what is attached; exit 1 on any difference",
    arguments: [{ name: "bundle", description: "folder of the bundle, or a zip of it" }],
    options: [JSON_OPTION],
  },
  {
    id: "attach",
    title: "Attach evidence of another tool",
    summary: "keep an export of xctrace or counters of Xcode beside a bundle, apart from what the run measured",
    arguments: [
      { name: "bundle", description: "folder of the bundle" },
      { name: "file", description: "XML of xctrace export, or CSV of Xcode's Counters tab" },
    ],
    options: [
      { flags: "--kind <name>", description: "xctrace or counters_csv (default: what the content says)" },
      JSON_OPTION,
    ],
  },
  {
    id: "attachments",
    title: "Show attached evidence",
    summary: "what is attached to a bundle, with its figures, and whether it held; exit 1 where it did not",
    arguments: [{ name: "bundle", description: "folder of the bundle, or a zip of it" }],
    options: [
      { flags: "--remove <id>", description: "take an attachment away instead; six digits of its id are enough" },
      JSON_OPTION,
    ],
  },
  {
    id: "diff",
    title: "Diff two bundles",
    summary:
      "what differs between two runs: circumstances, verdicts, figures; exit 1 where a verdict broke or B lacks a result of A",
    arguments: [
      { name: "a", description: "folder or zip of the bundle to hold against" },
      { name: "b", description: "folder or zip of the other" },
    ],
    options: [JSON_OPTION],
  },
  {
    id: "export",
    title: "Export a bundle",
    summary: "write a bundle as one zip file, the same bytes wherever it is made",
    arguments: [{ name: "dir", description: "folder of the bundle" }],
    options: [
      { flags: "--out <file>", description: "file to write (default: the bundle's name and .zip)" },
      JSON_OPTION,
    ],
  },
  {
    id: "open",
    title: "Open a bundle in the window",
    summary: "start the window with a bundle from anywhere, read-only and listed apart",
    arguments: [{ name: "bundle", description: "folder of the bundle, or a zip of it" }],
    options: [{ flags: "--evidence <dir>", description: "folder of this machine's bundles (default: evidence)" }],
  },
  {
    id: "capture",
    title: "Capture a case",
    summary: "the dispatches of one route on one case, on a Metal device, as a .gputrace that Xcode opens",
    options: [
      { flags: "--case <key>", description: "the case by key or name" },
      { flags: "--route <name>", description: "the route" },
      { flags: "--out <file>", description: "the .gputrace to write; nothing may be there" },
      {
        flags: "--suite <name>",
        description: "suite to look for the case in: quick, standard or full (default: full)",
      },
      { flags: "--inputs <file>", description: "look for the case in a safetensors file instead" },
      { flags: "--device <name>", description: "metal, metal:1 (default: the system's)" },
      JSON_OPTION,
    ],
  },
  {
    id: "dispatch",
    title: "Explain dispatch",
    summary: "which route a case takes on a device, with every requirement and its actual value",
    options: [
      ...CASE_OPTIONS,
      { flags: "--case <key>", description: "a case by key or name (default: the production shapes)" },
      { flags: "--shape <json>", description: "a shape that is no case, as records of a bundle have it" },
      { flags: "--route <name>", description: "force a route" },
      DEVICE_OPTION,
      CHIP_OPTION,
      JSON_OPTION,
    ],
  },
  {
    id: "offline",
    title: "Registers and spill, offline",
    summary:
      "registers and spilled bytes of a route's kernels on any Apple GPU, by Apple's offline compiler; needs Xcode",
    options: [
      { flags: "--route <name>", description: "a route (default: the first that is built)" },
      { flags: "--case <key>", description: "a case by key or name (default: L8192.spread)" },
      { flags: "--suite <name>", description: "quick, standard or full (default: full)" },
      {
        flags: "--arch <names>",
        description: "applegpu_g16s,applegpu_g17s (default: those that the chip table knows)",
      },
      JSON_OPTION,
    ],
  },
  {
    id: "devices",
    title: "Show devices",
    summary: "each device with how each fact is known and, for what is not there, why and the mend",
    options: [
      { flags: "--device <name>", description: "metal, metal:1 or emulated alone (default: all)" },
      CHIP_OPTION,
      JSON_OPTION,
    ],
  },
  {
    id: "cases",
    title: "List cases",
    summary: "the cases of a suite or of a file",
    options: [
      ...CASE_OPTIONS,
      { flags: "--device <name>", description: "name the routes that apply on it: metal, emulated:apple9" },
      { flags: "--chip <name>", description: "the same for a chip or family" },
      JSON_OPTION,
    ],
  },
] as const satisfies readonly Command[];

export type CommandId = (typeof COMMANDS)[number]["id"];

/** Where an action stands in the palette and on the sheet of shortcuts. */
export type ActionSection = "Pages" | "Run" | "Evidence" | "List" | "Chart" | "Window";

/** Something that a user can do in the window. */
export interface WindowAction {
  readonly id: string;
  readonly title: string;
  readonly section: ActionSection;
  /**
   * Keys as in `KeyboardEvent.key`, lower case; `mod+` is Command on a Mac and Control elsewhere, `shift+` is Shift with
   * a letter or a named key. Single keys work outside text fields alone.
   */
  readonly keys: readonly string[];
  /** The command that does the same; null where it concerns the window alone. */
  readonly command: CommandId | null;
}

/** The pages in the order of the navigation; their keys are 1 to 9. */
export const PAGE_IDS = [
  "device",
  "dispatch",
  "run",
  "parity",
  "captures",
  "fragments",
  "evidence",
  "kernels",
  "gates",
] as const;
export type PageId = (typeof PAGE_IDS)[number];

const PAGE_COMMANDS: Readonly<Partial<Record<PageId, CommandId>>> = {
  device: "devices",
  dispatch: "dispatch",
  run: "parity",
  evidence: "verify",
};

function pageTitle(id: PageId): string {
  return id.charAt(0).toUpperCase() + id.slice(1);
}

export const WINDOW_ACTIONS: readonly WindowAction[] = [
  ...PAGE_IDS.map(
    (id, index): WindowAction => ({
      id: `page.${id}`,
      title: `Go to ${pageTitle(id)}`,
      section: "Pages",
      keys: [String(index + 1)],
      command: PAGE_COMMANDS[id] ?? null,
    }),
  ),
  {
    id: "run.start",
    title: "Run the suite, or the selected result again",
    section: "Run",
    keys: ["r"],
    command: "parity",
  },
  { id: "run.suite", title: "Run the whole suite", section: "Run", keys: ["shift+r"], command: "parity" },
  { id: "run.cancel", title: "Cancel the run", section: "Run", keys: ["mod+."], command: null },
  { id: "run.pause", title: "Pause after the running case, or go on", section: "Run", keys: ["p"], command: null },
  { id: "run.skip", title: "Skip the running case", section: "Run", keys: ["backspace"], command: null },
  { id: "run.inputs", title: "Run the cases of a safetensors file", section: "Run", keys: [], command: "parity" },
  {
    id: "run.reproducer",
    title: "Copy the reproducer of the selected result",
    section: "Run",
    keys: ["shift+c"],
    command: "parity",
  },
  { id: "capture.take", title: "Capture the selected case for Xcode", section: "Run", keys: [], command: "capture" },
  {
    id: "kernels.check",
    title: "Compile the route's kernels, run nothing",
    section: "Run",
    keys: ["k"],
    command: null,
  },
  {
    id: "kernel.manifest",
    title: "Check the kernel of a manifest",
    section: "Run",
    keys: ["m"],
    command: "check",
  },
  { id: "evidence.verify", title: "Verify the selected bundle", section: "Evidence", keys: ["v"], command: "verify" },
  { id: "evidence.stop", title: "Stop verifying", section: "Evidence", keys: [], command: null },
  {
    id: "bundle.open",
    title: "Open a bundle from elsewhere",
    section: "Evidence",
    keys: ["o", "mod+o"],
    command: "open",
  },
  {
    id: "attached.show",
    title: "Show or hide what is attached to the run",
    section: "Evidence",
    keys: ["shift+a"],
    command: "attachments",
  },
  {
    id: "attached.add",
    title: "Attach a file of another tool to the run",
    section: "Evidence",
    keys: [],
    command: "attach",
  },
  { id: "bundle.close", title: "Close the opened bundle", section: "Evidence", keys: [], command: null },
  { id: "evidence.export", title: "Export the selected bundle", section: "Evidence", keys: ["e"], command: "export" },
  { id: "evidence.reveal", title: "Show the bundle's folder", section: "Evidence", keys: [], command: null },
  { id: "evidence.notes", title: "Write notes on the run", section: "Evidence", keys: ["n"], command: null },
  {
    id: "diff.show",
    title: "Diff with the baseline, or the run before",
    section: "Evidence",
    keys: ["d"],
    command: "diff",
  },
  { id: "diff.pin", title: "Pin as the baseline, or unpin", section: "Evidence", keys: ["b"], command: null },
  { id: "diff.swap", title: "Swap A and B", section: "Evidence", keys: ["x"], command: "diff" },
  { id: "list.next", title: "Next row", section: "List", keys: ["arrowdown"], command: null },
  { id: "list.previous", title: "Previous row", section: "List", keys: ["arrowup"], command: null },
  { id: "list.left", title: "Lane to the left", section: "List", keys: ["arrowleft"], command: null },
  { id: "list.right", title: "Lane to the right", section: "List", keys: ["arrowright"], command: null },
  { id: "list.filter", title: "Filter", section: "List", keys: ["/"], command: null },
  { id: "list.goto", title: "Go to an element or a lane", section: "List", keys: ["g"], command: null },
  { id: "list.pin", title: "Pin the point or lane at hand", section: "List", keys: [" "], command: null },
  {
    id: "report.open",
    title: "Open the report's line, then its other side",
    section: "List",
    keys: ["enter"],
    command: null,
  },
  { id: "report.copy", title: "Copy the report as text", section: "List", keys: ["y"], command: null },
  { id: "report.sarif", title: "Export the reports as SARIF", section: "List", keys: [], command: null },
  { id: "case.next", title: "Next case", section: "List", keys: ["]"], command: null },
  { id: "case.previous", title: "Previous case", section: "List", keys: ["["], command: null },
  { id: "compare.routes", title: "Compare with the next route", section: "Chart", keys: ["c"], command: null },
  { id: "compare.swap", title: "Swap A and B", section: "Chart", keys: ["x"], command: null },
  { id: "chart.table", title: "Table of the chart that has the focus", section: "Chart", keys: ["t"], command: null },
  { id: "chart.export", title: "Export the figures as CSV", section: "Chart", keys: ["e"], command: null },
  { id: "chart.picture", title: "Export the picture", section: "Chart", keys: ["shift+e"], command: null },
  { id: "chart.fit", title: "Fit the range of the colours", section: "Chart", keys: ["a"], command: null },
  { id: "chart.unit", title: "Next unit or measure", section: "Chart", keys: ["u"], command: null },
  {
    id: "element.lane",
    title: "From the element to its lane, from the lane to its worst element",
    section: "Chart",
    keys: ["shift+f"],
    command: null,
  },
  { id: "window.palette", title: "Command palette", section: "Window", keys: ["mod+k", "mod+shift+p"], command: null },
  { id: "window.shortcuts", title: "All shortcuts", section: "Window", keys: ["?"], command: null },
  { id: "window.back", title: "Back", section: "Window", keys: ["mod+["], command: null },
  { id: "window.forward", title: "Forward", section: "Window", keys: ["mod+]"], command: null },
  {
    id: "window.command",
    title: "Copy the command of this view",
    section: "Window",
    keys: ["mod+shift+c"],
    command: null,
  },
  { id: "window.pane", title: "Next pane", section: "Window", keys: ["f6"], command: null },
  { id: "window.paneback", title: "Previous pane", section: "Window", keys: ["shift+f6"], command: null },
  {
    id: "window.details",
    title: "Show or hide the right pane in a narrow window",
    section: "Window",
    keys: ["mod+i"],
    command: null,
  },
  {
    id: "window.close",
    title: "Close, clear the filter, clear the selection",
    section: "Window",
    keys: ["escape"],
    command: null,
  },
  { id: "window.settings", title: "Settings", section: "Window", keys: ["mod+,"], command: null },
  { id: "window.about", title: "About Lockstep", section: "Window", keys: [], command: null },
  { id: "theme.light", title: "Light theme", section: "Window", keys: [], command: null },
  { id: "theme.dark", title: "Dark theme", section: "Window", keys: [], command: null },
  { id: "theme.system", title: "Theme of the system", section: "Window", keys: [], command: null },
];

/** Keys that two actions share, because no view offers both: `E` exports what the view shows, `X` swaps its A and B. */
export const SHARED_KEYS: readonly string[] = ["e", "x"];

/** Words as a line for a POSIX shell. */
export function commandLine(words: readonly string[]): string {
  return words.map(shellQuote).join(" ");
}

/** The words of `lockstep parity` that ask for the same run. */
export function parityWords(request: StartRequest): readonly string[] {
  const option = (flag: string, value: string | number | null): readonly string[] =>
    value === null ? [] : [flag, String(value)];
  return [
    "lockstep",
    "parity",
    ...(request.inputs === null ? ["--suite", request.suite] : ["--inputs", request.inputs]),
    ...option("--operator", request.operator),
    ...option("--route", request.route),
    ...option("--case", request.case),
    ...option("--device", request.device),
    ...option("--chip", request.chip),
    ...(request.validation ? ["--validation"] : []),
    ...option("--seed", request.seed),
    ...option("--timeout", request.timeoutMs === null ? null : request.timeoutMs / 1000),
    ...option("--workers", request.workers),
  ];
}

/** `lockstep verify <bundle> [options]`. */
export function usageOf(command: Command): string {
  const named = (command.arguments ?? [])
    .map(({ name, optional }) => (optional ? ` [${name}]` : ` <${name}>`))
    .join("");
  return `lockstep ${command.id}${named}${command.options.length > 0 ? " [options]" : ""}`;
}
