/** Loads the addon over the stand-in for Metal, and what tests set and read of the stand-in. Tests alone. */
import { createRequire } from "node:module";
import path from "node:path";
import { places } from "../../../../electron/host/root.ts";
import { type Addon, loadAddon } from "../../../../native/addon.ts";
import type { Metal } from "../../../../native/metal/binding.ts";
import { buildStandIn } from "./build.ts";

/** The name of every device of the stand-in that is not told otherwise. */
export const STAND_IN_NAME = "Stand-in for Metal (no GPU)";

/** A first run compiles the addon and the stand-in, maybe beside other tests. */
export const STAND_IN_TIMEOUT_MS = 300_000;

interface Control {
  scenario(text: string): void;
  let(commandBuffers: number): void;
  violations(): string[];
  counts(): string;
  objects(): { readonly alive: number; readonly classes: string; readonly withoutPool: number };
}

/** Settings by name, see README.md. */
export type Scenario = Readonly<Record<string, string | number>>;

export interface StandIn {
  readonly addon: Addon;
  readonly metal: Metal;
  /** Replaces every setting. */
  set(scenario: Scenario): void;
  /** With setting `hold`: lets this many command buffers run. */
  let(commandBuffers: number): void;
  /** What Metal's validation would have reported since the last call. */
  violations(): readonly string[];
  /** How often something happened until now. */
  count(name: string): number;
  objects(): ReturnType<Control["objects"]>;
}

export async function openStandIn(): Promise<StandIn> {
  const files = await buildStandIn();
  const where = places(path.resolve(import.meta.dirname, "../../../.."));
  process.env.STAND_IN_NODE = process.execPath;
  process.env.STAND_IN_COMPILER = files.compiler;
  process.env.STAND_IN_ADDON = where.addon;
  process.env.STAND_IN_RUNNER = where.runner;
  const addon = loadAddon(files.addon);
  const control = createRequire(import.meta.url)(files.control) as Control;
  const { metal } = addon;
  if (metal === null)
    throw new Error("The addon over the stand-in offers no Metal: it was built without LOCKSTEP_METAL.");
  const escaped = (value: string | number): string => String(value).replaceAll("%", "%25").replaceAll("\n", "%0A");
  return {
    addon,
    metal,
    set: (scenario) => {
      const lines = Object.entries(scenario).map(([key, value]) => `${key}=${escaped(value)}`);
      control.scenario(lines.join("\n"));
    },
    let: (commandBuffers) => control.let(commandBuffers),
    violations: () => control.violations(),
    count: (name) => {
      const line = control
        .counts()
        .split("\n")
        .find((one) => one.startsWith(`${name} `));
      return line === undefined ? 0 : Number(line.slice(name.length + 1));
    },
    objects: () => control.objects(),
  };
}
