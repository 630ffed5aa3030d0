/** The commands with a Metal device, against a host that says what it is told, and against the real one, which has none here. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerLines, captureRequestOf } from "../../../electron/cli/capture.ts";
import { entryLines } from "../../../electron/cli/devices.ts";
import type { Output } from "../../../electron/cli/output.ts";
import { main } from "../../../electron/cli.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import type { RunRecord } from "../../../electron/runs/record.ts";
import { markLine } from "../../../electron/validation/lines.ts";
import { openWorkbench } from "../../../electron/workbench/workbench.ts";
import { metalProfile } from "../evidence/fixture.ts";
import { fixtureRun, heard, type Told, toldHost } from "../host/told_host.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";
import { request } from "../workbench/fixture.ts";

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Said {
  readonly exit: number;
  readonly out: string;
  readonly notes: string;
}

async function lockstep(words: readonly string[], host: string = WHERE.host): Promise<Said> {
  const out: string[] = [];
  const notes: string[] = [];
  const output: Output = {
    line: (text) => void out.push(text),
    note: (text) => void notes.push(text),
    progress: () => undefined,
    clear: () => undefined,
    colour: false,
  };
  const exit = await main(words, { ...WHERE, host }, output);
  return { exit, out: out.join("\n"), notes: notes.join("\n") };
}

const BANNERS = "Metal API Validation Enabled\nMetal GPU Validation Enabled\n";
const LOAD = 'Invalid device load at offset 64, executing kernel function: "gqa_naive"\n';

/** A Metal host's run of two cases. With `error` a report comes during the first; with `late` after the last result. */
function metalRun(how: { readonly validated?: boolean; readonly error?: boolean; readonly late?: boolean } = {}): Told {
  const { steps, payload } = fixtureRun(folder, {
    device: metalProfile(),
    ...(how.validated
      ? {
          instrumented: true,
          between: ([first, second]) => [
            `${BANNERS}${markLine(first!, "naive")}${how.error ? LOAD : ""}`,
            markLine(second!, "naive"),
          ],
        }
      : {}),
  });
  return { steps, ...(payload === undefined ? {} : { payload }), ...(how.late ? { last: LOAD } : {}) };
}

function onlyBundle(place: string): { readonly record: RunRecord; readonly reasons: readonly string[] } {
  const [name] = fs.readdirSync(place).filter((entry) => entry.endsWith(".lockstep"));
  const { record, checks } = verifyBundle(path.join(place, name!));
  return { record: record!, reasons: checks.flatMap(({ reasons }) => reasons) };
}

describe("lockstep parity on Metal", () => {
  it("says where it ran and why, and what it is evidence of", async () => {
    const place = path.join(folder, "plain");
    const { exit, out, notes } = await lockstep(["parity", "--out", place], toldHost(folder, metalRun()));
    expect(exit).toBe(0);
    expect(notes).toContain("metal:0: made by hand");
    expect(out).toContain("gqa_decode naive f32: parity, supports M3 Max");
    expect(out).toContain(
      "execution: metal. Apple M3 Max: M3 Max, apple9, macOS 26.1 (25B78). This is evidence about M3 Max",
    );
    expect(onlyBundle(place)).toMatchObject({ reasons: [], record: { execution: "metal", outcome: "passed" } });
  });

  it("under validation starts its host with Metal's variables, passes where that is silent, and times nothing", async () => {
    const place = path.join(folder, "silent");
    const host = toldHost(folder, metalRun({ validated: true }));
    const { exit, out } = await lockstep(["parity", "--validation", "--out", place], host);
    expect(exit).toBe(0);
    expect(heard(host)).toMatchObject([{ type: "run", env: "1" }]);
    expect(out).toContain("validation: API on, shader on; 0 errors");
    expect(out).toContain("Under validation: its times are no timings");
    expect(onlyBundle(place).reasons).toEqual([]);
    expect(fs.readdirSync(place)[0]).toContain("-validation.lockstep");
  });

  it("fails by a report of validation though every other gate held, in record, log and exit code", async () => {
    const place = path.join(folder, "loud");
    const host = toldHost(folder, metalRun({ validated: true, error: true }));
    const { exit, out } = await lockstep(["parity", "--validation", "--out", place], host);
    expect(exit).toBe(1);
    expect(out).toContain("Fail: 1 of 2 results failed a gate, 1 passed");
    expect(out).toContain("Invalid device load at offset 64");
    expect(out).toContain("1 result held every other gate and did not pass by it");
    const { record, reasons } = onlyBundle(place);
    expect(reasons).toEqual([]);
    expect(record.results.map(({ verdict }) => verdict)).toEqual(["fail", "pass"]);
  });

  it("counts a report that comes after the last result, when the host is let go", async () => {
    const place = path.join(folder, "late");
    const host = toldHost(folder, metalRun({ validated: true, late: true }));
    expect((await lockstep(["parity", "--validation", "--out", place], host)).exit).toBe(1);
    expect(onlyBundle(place)).toMatchObject({ reasons: [], record: { validation: { counts: { errors: 1 } } } });
  });

  it("is refused where there is no Metal, and leaves nothing", async () => {
    const place = path.join(folder, "none");
    const named = await lockstep(["parity", "--device", "metal", "--out", place]);
    expect(named).toMatchObject({
      exit: 2,
      // Tests leave Metal out on a Mac.
      notes: expect.stringMatching(/The device "metal" is not there: (this is|LOCKSTEP_METAL=off leaves Metal out)/),
    });
    const validated = await lockstep(["parity", "--validation", "--out", place]);
    expect(validated).toMatchObject({ exit: 2, notes: expect.stringContaining("--validation is Metal's own") });
    const both = await lockstep(["parity", "--validation", "--device", "emulated", "--out", place]);
    expect(both).toMatchObject({ exit: 2, notes: expect.stringContaining("the emulated device has none") });
    expect(fs.existsSync(place)).toBe(false);
  });
});

describe("the window's runs on Metal", () => {
  const open = (host: string) =>
    openWorkbench({ places: { ...WHERE, host }, evidence: fs.mkdtempSync(path.join(folder, "evidence-")) });

  /** Verdicts as a window was told them, in order. */
  let told: string[] = [];

  async function kept(host: string, change: Parameters<typeof request>[0]): Promise<RunRecord> {
    told = [];
    const workbench = open(host);
    try {
      const signal = new AbortController().signal;
      const { id } = await workbench.handlers["runs.start"](request(change), { signal });
      for await (const item of workbench.handlers["runs.events"]({}, { signal })) {
        if (item.type === "ended") expect(item.failure).toBeNull();
        if (item.type === "event" && item.event.type === "result") told.push(item.event.result.verdict);
        if (item.type === "ended") break;
      }
      expect(verifyBundle(path.join(workbench.evidence, id)).checks.flatMap(({ reasons }) => reasons)).toEqual([]);
      return (await workbench.handlers["runs.record"]({ id }, { signal })) as RunRecord;
    } finally {
      await workbench.close();
    }
  }

  it("name their device in the command, and fail by validation as those of the command line", async () => {
    const record = await kept(toldHost(folder, metalRun({ validated: true, error: true })), {
      device: "metal",
      validation: true,
    });
    expect(record).toMatchObject({ outcome: "failed", validation: { counts: { errors: 1 } } });
    // What validation turned is said again.
    expect(told).toEqual(["pass", "pass", "fail"]);
    expect(record.command.join(" ")).toContain("--device metal --validation");
  });

  it("without validation keep the workbench's own host", async () => {
    const host = toldHost(folder, metalRun());
    expect(await kept(host, {})).toMatchObject({ outcome: "passed" });
    expect(heard(host)).toMatchObject([{ type: "run", env: null }]);
  });

  it("refuse validation of an emulated device, and a capture where there is no Metal", async () => {
    const workbench = open(WHERE.host);
    const { signal } = new AbortController();
    const start = async () =>
      workbench.handlers["runs.start"](request({ device: "emulated", validation: true }), { signal });
    await expect(start()).rejects.toThrow("Validation is Metal's own");
    const take = { suite: "quick", case: "L33", route: "naive", device: null, out: null } as const;
    await expect(workbench.handlers["captures.take"](take, { signal })).rejects.toThrow("Only Metal captures");
    await workbench.close();
  });
});

describe("lockstep capture", () => {
  const ANSWER = {
    path: "/x/a.gputrace",
    bytes: 12_345,
    files: 3,
    case: "gqa_decode/h32kv4d512/L33/spread/f32",
    route: "naive",
    device: { id: "metal:0", name: "Apple M3 Max", chip: "M3 Max", os: "macOS 26.1" },
    reasons: ["metal:0 is there"],
    dispatches: [
      { label: "attention", kernel: "gqa_naive", threadgroups: [32, 1, 1], threadsPerThreadgroup: [32, 1, 1] },
    ],
    note: "Times inside it are no timings.",
  };
  const words = ["capture", "--case", "L33", "--route", "naive", "--out", "/x/a.gputrace"];

  it("says where the document is, how large, and what is in it", async () => {
    const host = toldHost(folder, { steps: [{ send: { type: "captured", answer: ANSWER } }] });
    const { exit, out } = await lockstep(words, host);
    expect(exit).toBe(0);
    expect(heard(host)).toMatchObject([{ type: "capture", env: "1" }]);
    for (const part of ["/x/a.gputrace", "12,345 bytes in 3 files", "gqa_naive, 32 x 1 x 1", "no timings"]) {
      expect(out).toContain(part);
    }
    expect(answerLines(ANSWER as unknown as Parameters<typeof answerLines>[0]).join("\n")).toBe(out);
  });

  it("keeps Metal's words where it refuses", async () => {
    const refused = { type: "capture_refused", code: "refused", message: "Capturing is not supported.", mend: "x" };
    const { exit, notes } = await lockstep(words, toldHost(folder, { steps: [{ send: refused }] }));
    expect(exit).toBe(2);
    expect(notes).toContain("Capturing is not supported.");
  });

  it("is refused without Metal, on the emulated device, and without a case", async () => {
    const emulated = await lockstep([...words, "--device", "emulated"]);
    expect(emulated).toMatchObject({ exit: 2, notes: expect.stringContaining("Only Metal captures") });
    expect(await lockstep(words)).toMatchObject({ exit: 2, notes: expect.stringContaining("no Metal device") });
    expect(() => captureRequestOf({ route: "naive", out: "a.gputrace" })).toThrow("capture needs --case");
  });
});

describe("lockstep devices", () => {
  it("shows the facts of a Metal device, how each is known, and what its runs support", () => {
    const lines = entryLines({ kind: "metal", available: true, profile: metalProfile() }).join("\n");
    expect(lines).toContain("chip               M3 Max  (api: test)");
    expect(lines).toContain("virtual GPU        no  (api: test)");
    expect(lines).toContain("virtual_machine    no  (api: test)");
    expect(lines).toContain("runs on it support M3 Max");
    const lent = entryLines({ kind: "metal", available: true, profile: metalProfile(true) }).join("\n");
    expect(lent).toContain("metal: supports no chip: the GPU is a virtual one");
  });
});
