/** The steps that Metal alone has: the 16x16 route, the compiler on the path of M5, validation, a capture. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { MLA_PREFILL_ROUTES } from "../../kernels/mla_prefill/routes.ts";
import type { DeviceProfile } from "../../native/device.ts";
import { requestOf } from "../cli/parity.ts";
import { manifestText, sha256, sha256File, walk } from "../evidence/bag.ts";
import { HostClient } from "../host/client.ts";
import { Recorder } from "../runs/recorder.ts";
import { ValidationCollector } from "../validation/collector.ts";
import { CAPTURE_ENVIRONMENT, VALIDATION_ENVIRONMENT } from "../validation/environment.ts";
import { recordValidation } from "../validation/report.ts";
import { runTask } from "./child.ts";
import { type AcceptContext, type AcceptStep, metalAlone, write } from "./context.ts";
import { NotRun, type StepReport } from "./machine.ts";
import { MATMUL2D_LANGUAGE, MATMUL2D_SOURCE } from "./matmul2d.ts";
import { type CaptureFacts, type Matmul2dFacts, needsOf, STEP_FILES, type ValidationFacts } from "./record.ts";
import { attemptReport, forcedReport, parityWords, ROUTE_16X16, validationReport } from "./reports.ts";

/** Whether the device has the matrix hardware that the route is for: Apple10 and later. */
function hasMatrixHardware(profile: DeviceProfile): boolean {
  return Number(profile.family.value.slice("apple".length)) >= 10;
}

export const matrix16x16: AcceptStep = {
  id: "matrix_16x16",
  needs: needsOf("matrix_16x16"),
  missing: (context) => {
    const route = MLA_PREFILL_ROUTES.find(({ name }) => name === ROUTE_16X16);
    if (route?.status !== "built") return "the route is not built yet";
    return metalAlone("the 16x16 route is for Metal")(context);
  },
  run: async (context) => {
    const { profile } = context;
    if (profile !== null && hasMatrixHardware(profile)) return ofParity(context);
    // On older GPUs its predicates keep it out: here it is tried all the same.
    const staging = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-accept-"));
    try {
      const task = { kind: "forced", device: context.device, route: ROUTE_16X16, staging } as const;
      const { facts } = await runTask(task, "forced", { path: context.child, signal: context.signal });
      const left = [write(context, STEP_FILES.route16x16, facts)];
      return { ...forcedReport(facts), files: left };
    } finally {
      fs.rmSync(staging, { recursive: true, force: true });
    }
  },
};

/** The route's results in the parity run, which has just been. */
function ofParity({ recorder, run }: AcceptContext): StepReport {
  if (run === null) throw new NotRun("it is one of the parity run, which was not run");
  const results = recorder.results.filter(({ route }) => route === ROUTE_16X16);
  if (results.length === 0) throw new NotRun("the parity run has no result of it: its predicates did not hold");
  const passed = results.every(({ verdict }) => verdict === "pass");
  return { outcome: passed ? "passed" : "failed", words: parityWords(results, results.length) };
}

export const matmul2d: AcceptStep = {
  id: "matmul2d",
  needs: needsOf("matmul2d"),
  missing: metalAlone("cooperative tensors are Metal's: an emulated device compiles none"),
  run: async (context) => {
    const { profile } = context;
    if (profile !== null && profile.metalVersion.value < MATMUL2D_LANGUAGE) {
      const { value, source } = profile.metalVersion;
      throw new NotRun(`it needs MSL ${MATMUL2D_LANGUAGE}; the newest here is ${value} (${source})`);
    }
    const { attempt } = await runTask({ kind: "matmul2d", device: context.device }, "matmul2d", {
      path: context.child,
      signal: context.signal,
    });
    const facts: Matmul2dFacts = {
      schema: "lockstep.acceptance.matmul2d/1",
      device: profile?.id ?? context.device,
      languageVersion: MATMUL2D_LANGUAGE,
      source: MATMUL2D_SOURCE.text,
      attempt,
    };
    const left = [write(context, STEP_FILES.matmul2d, facts)];
    return { ...attemptReport(attempt, profile !== null && hasMatrixHardware(profile)), files: left };
  },
};

export const validation: AcceptStep = {
  id: "validation",
  needs: needsOf("validation"),
  missing: metalAlone("validation is Metal's own"),
  run: async (context) => {
    const collector = new ValidationCollector();
    const host = new HostClient({
      path: context.where.host,
      environment: VALIDATION_ENVIRONMENT,
      onLog: (text) => collector.add(text),
    });
    const staging = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-accept-"));
    const recorder = new Recorder({
      app: { name: "lockstep", version: "0", commit: null },
      command: [],
      startedAt: new Date().toISOString(),
    });
    const onAbort = (): void => host.cancel();
    context.signal.addEventListener("abort", onAbort, { once: true });
    try {
      const request = requestOf({ suite: "quick", device: context.device, validation: true }, staging);
      const end = await host.run(request, (event) => {
        recorder.add(event);
        if (event.type === "progress") context.progress(`validation: ${event.case}: ${event.phase}`);
      });
      await host.closeDrained();
      if (end.type !== "finished") throw new Error(end.type === "refused" ? end.message : end.reason);
      if (end.outcome === "cancelled") throw new NotRun("stopped by you");
      const log = collector.read();
      const record = recordValidation(log, VALIDATION_ENVIRONMENT);
      recorder.validated(log, record);
      const { log: _, ...kept } = record;
      const facts: ValidationFacts = {
        schema: "lockstep.acceptance.validation/1",
        device: context.profile?.id ?? context.device,
        outcome: recorder.outcomeAfter(end.outcome),
        results: recorder.results.map(({ case: key, route, verdict }) => ({ case: key, route, verdict })),
        validation: kept,
      };
      const left = [
        write(context, STEP_FILES.validation, facts),
        write(context, STEP_FILES.validationLog, collector.text),
      ];
      return { ...validationReport(facts), files: left };
    } finally {
      context.signal.removeEventListener("abort", onAbort);
      host.kill();
      fs.rmSync(staging, { recursive: true, force: true });
    }
  },
};

/** What is captured: small, of two dispatches. */
export const CAPTURED = {
  suite: "quick",
  case: "gqa_decode/h32kv4d512/L1023/tail4/f32",
  route: "fused_split_kv_p64",
} as const;

export const capture: AcceptStep = {
  id: "capture",
  needs: needsOf("capture"),
  missing: metalAlone("captures are Metal's own"),
  run: async (context) => {
    const host = new HostClient({ path: context.where.host, environment: CAPTURE_ENVIRONMENT });
    const onAbort = (): void => host.cancel();
    context.signal.addEventListener("abort", onAbort, { once: true });
    const out = context.target.replace(/\.lockstep$/, ".gputrace");
    try {
      const end = await host.capture({ ...CAPTURED, inputs: null, device: context.device, out }, ({ phase }) =>
        context.progress(`capture: ${phase}`),
      );
      await host.close();
      if (end.type === "stopped") throw new Error(end.reason);
      if (end.type === "capture_refused") {
        if (end.code === "cancelled") throw new NotRun("stopped by you");
        if (end.code === "usage" && context.profile?.virtualGpu?.value === true) throw new NotRun(end.message);
        return { outcome: "failed", words: end.message };
      }
      const { path: _, ...answer } = end.answer;
      const facts: CaptureFacts = {
        schema: "lockstep.acceptance.capture/1",
        name: path.basename(out),
        answer,
        sha256: treeDigest(out),
      };
      const left = [write(context, STEP_FILES.capture, facts)];
      const words = `${facts.name} beside the bundle: ${answer.case}, ${answer.route}, ${answer.bytes.toLocaleString("en-US")} bytes; open it in Xcode`;
      return { outcome: "passed", words, files: left };
    } finally {
      context.signal.removeEventListener("abort", onAbort);
      host.kill();
    }
  },
};

/** SHA-256 over a line `digest  path` for every file of a document, sorted by path. */
function treeDigest(document: string): string {
  if (fs.statSync(document).isFile()) return sha256File(document);
  const files = walk(document).files.map(({ path: file }) => ({
    path: file,
    sha256: sha256File(path.join(document, file)),
  }));
  return sha256(manifestText(files));
}
