/** The steps of an acceptance in their order: what each needs, and what it does. */
import fs from "node:fs";
import path from "node:path";
import { conformanceSummary } from "../../native/conformance/summary.ts";
import type { DeviceProfile } from "../../native/device.ts";
import { requestOf } from "../cli/parity.ts";
import { sha256File } from "../evidence/bag.ts";
import { HostClient } from "../host/client.ts";
import { runProgram, runTask } from "./child.ts";
import { type AcceptStep, emulated, noMetal, write } from "./context.ts";
import { NotRun } from "./machine.ts";
import { capture, matmul2d, matrix16x16, validation } from "./metal_steps.ts";
import { devicesReport, profileLines } from "./profile.ts";
import { type ConformanceFacts, needsOf, STEP_FILES } from "./record.ts";
import { buildReport, parityWords, programReport } from "./reports.ts";

const build: AcceptStep = {
  id: "build",
  needs: needsOf("build"),
  missing: noMetal,
  run: async (context) => {
    const { where } = context;
    const names = ["lockstep.node", "lockstep-runner", "host.mjs", "cli.mjs"].map((name) =>
      path.join(where.root, "out", name),
    );
    const files = names.map((file) => ({
      name: path.relative(where.root, file),
      bytes: fs.statSync(file).size,
      sha256: sha256File(file),
    }));
    const found = await runTask({ kind: "devices", device: context.device }, "devices", {
      path: context.child,
      signal: context.signal,
    });
    const facts = {
      schema: "lockstep.acceptance.build/1",
      node: process.versions.node,
      platform: `${context.platform} ${process.arch}`,
      files,
      metal: found.metal,
    };
    const left = [write(context, STEP_FILES.build, facts)];
    if (!emulated(context) && !found.metal.offered) {
      return { outcome: "failed", words: "the addon was built without Metal: see what the build said", files: left };
    }
    return { ...buildReport(facts), files: left };
  },
};

const devices: AcceptStep = {
  id: "devices",
  needs: needsOf("devices"),
  missing: noMetal,
  run: async (context) => {
    const found = await runTask({ kind: "devices", device: context.device }, "devices", {
      path: context.child,
      signal: context.signal,
    });
    const facts = { schema: "lockstep.acceptance.devices/1", chosen: found.chosen, entries: found.entries };
    const left = [write(context, STEP_FILES.devices, facts)];
    if (found.chosen === null) return { outcome: "failed", words: found.reason ?? "there is no device", files: left };
    const entry = found.entries.find((one) => one.available && one.profile.id === found.chosen);
    const profile = (entry?.available ? entry.profile : undefined) as DeviceProfile | undefined;
    if (profile === undefined) {
      return { outcome: "failed", words: `${found.chosen} was chosen, and is not among the devices`, files: left };
    }
    context.profile = profile;
    for (const line of profileLines(profile)) context.say(`  ${line}`);
    return { ...devicesReport(profile), files: left };
  },
};

const conformance: AcceptStep = {
  id: "conformance",
  needs: needsOf("conformance"),
  missing: noMetal,
  run: async (context) => {
    const { results } = await runTask({ kind: "conformance", device: context.device }, "conformance", {
      path: context.child,
      signal: context.signal,
      onEvent: (event) => {
        if (event.type !== "check") return;
        const { id, outcome, words } = event.result;
        if (outcome === "passed") context.progress(`conformance: ${id}`);
        else context.say(`  ${outcome === "failed" ? "failed" : "not run"} ${id}: ${words}`);
      },
    });
    if (context.signal.aborted) throw new NotRun(`stopped by you: ${conformanceSummary(results)}`);
    const facts: ConformanceFacts = {
      schema: "lockstep.acceptance.conformance/1",
      device: context.profile?.id ?? context.device,
      results,
    };
    return {
      outcome: results.some(({ outcome }) => outcome === "failed") ? "failed" : "passed",
      words: conformanceSummary(results),
      files: [write(context, STEP_FILES.conformance, facts)],
    };
  },
};

const parity: AcceptStep = {
  id: "parity",
  needs: needsOf("parity"),
  missing: noMetal,
  run: async (context) => {
    const { recorder, signal } = context;
    const host = new HostClient({ path: context.where.host });
    const onAbort = (): void => host.cancel();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const request = requestOf({ suite: context.suite, device: context.device }, context.staging);
      const end = await host.run(request, (event) => {
        recorder.add(event);
        if (event.type === "result" && event.result.verdict !== "pass") {
          context.say(`  ${event.result.case}, ${event.result.route}: ${event.result.error ?? event.result.verdict}`);
        } else if (event.type === "progress") {
          context.progress(`parity: ${recorder.results.length} of ${recorder.total}, ${event.case}: ${event.phase}`);
        }
      });
      await host.close();
      if (end.type === "refused") {
        // A virtual GPU may be of a family that no route takes; a GPU of the M series is of one that they do.
        if (end.code === "usage" && context.profile?.virtualGpu?.value === true) throw new NotRun(end.message);
        throw new Error(end.message);
      }
      if (!recorder.planned)
        throw new Error(end.type === "stopped" ? end.reason : "the run ended before it was planned");
      context.run =
        end.type === "finished"
          ? { outcome: recorder.outcomeAfter(end.outcome), reason: end.reason }
          : { outcome: "crashed", reason: `${end.reason}. It was at: ${recorder.position}` };
      const { outcome, reason } = context.run;
      const words = parityWords([...recorder.results], recorder.total);
      if (outcome === "cancelled") throw new NotRun(`stopped by you: ${words}`);
      return {
        outcome: outcome === "passed" ? "passed" : "failed",
        words: outcome === "passed" || outcome === "failed" ? words : `${outcome}: ${reason}; ${words}`,
      };
    } finally {
      signal.removeEventListener("abort", onAbort);
      host.kill();
    }
  },
};

/** A program of the project that prints a line for each of its own steps, and `not run:` where it ran none. */
function program(file: string, output: string): AcceptStep["run"] {
  return async (context) => {
    const { code, text } = await runProgram(path.join(context.where.root, "build", file), [], {
      cwd: context.where.root,
      signal: context.signal,
      onLine: (line) => context.progress(line),
    });
    if (context.signal.aborted) throw new NotRun("stopped by you");
    const left = [write(context, output, text === "" ? "nothing was written\n" : text)];
    return { ...programReport(code, text), files: left };
  };
}

const smoke: AcceptStep = {
  id: "smoke",
  needs: needsOf("smoke"),
  missing: noMetal,
  run: program("smoke.mjs", STEP_FILES.smoke),
};

const packaging: AcceptStep = {
  id: "packaging",
  needs: needsOf("packaging"),
  missing: (context) => (context.packaging ? noMetal(context) : "packaging is made with --package alone"),
  run: program("package.mjs", STEP_FILES.packaging),
};

export const STEPS: readonly AcceptStep[] = [
  build,
  devices,
  conformance,
  parity,
  matrix16x16,
  matmul2d,
  validation,
  capture,
  smoke,
  packaging,
];
