/** What is derived from a record must say what it says: the log, the page, the JUnit file, the table. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeBundle, openStaging } from "../../../electron/evidence/bundle.ts";
import { stableJson } from "../../../electron/evidence/json.ts";
import { REPORT_VERSION, reportFiles } from "../../../electron/evidence/report.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import type { RunEvent } from "../../../electron/runs/events.ts";
import { LOG_FILE, type LogLine, logLine, logText } from "../../../electron/runs/log.ts";
import type { RunRecord } from "../../../electron/runs/record.ts";
import { fixtureBundle, fixtureDraft, reseal, temporary } from "./fixture.ts";

let folder: string;
let bundle: string;
let record: RunRecord;

beforeAll(() => {
  folder = temporary();
  const staging = openStaging(folder, "logged.lockstep");
  const draft = fixtureDraft(staging.folder, { error: 0.5 });
  const results = draft.results.map(({ case: key, route, verdict, state }, index): LogLine => {
    return { type: "result", at: index + 1, case: key, route, verdict, state };
  });
  const log: readonly LogLine[] = [
    { type: "planned", at: 0.25, cases: 2, results: 2 },
    ...results,
    { type: "ended", at: 9, outcome: "failed", reason: null },
  ];
  const closed = closeBundle(staging, draft, log);
  bundle = closed.path;
  record = closed.record;
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Reasons of the check `derived` after a file was forged together with every digest that binds it. */
function forged(file: string, edit: (text: string) => string): readonly string[] {
  const copy = path.join(folder, "copy");
  fs.cpSync(bundle, copy, { recursive: true });
  try {
    const target = path.join(copy, file);
    const text = edit(fs.readFileSync(target, "utf8"));
    fs.writeFileSync(target, text);
    const place = path.join(copy, "data/record.json");
    const changed = JSON.parse(fs.readFileSync(place, "utf8")) as RunRecord;
    const entry = changed.files.find((known) => known.path === file);
    if (entry !== undefined) {
      entry.bytes = String(Buffer.byteLength(text));
      entry.sha256 = createHash("sha256").update(text).digest("hex");
    }
    fs.writeFileSync(place, stableJson(changed));
    reseal(copy);
    const { result, checks, notes } = verifyBundle(copy);
    const broken = checks.filter((check) => check.reasons.length > 0);
    expect(broken.every((check) => check.id === "derived")).toBe(true);
    expect(result).toBe(broken.length === 0 ? "valid" : "invalid");
    return [...broken.flatMap((check) => check.reasons), ...notes];
  } finally {
    fs.rmSync(copy, { recursive: true, force: true });
  }
}

describe("a log", () => {
  it("is bound by the record and told with it", () => {
    expect(verifyBundle(bundle).checks.flatMap((check) => check.reasons)).toEqual([]);
    expect(record.files.find((file) => file.path === LOG_FILE)).toMatchObject({ role: "log" });
    expect(forged(LOG_FILE, (text) => text)).toEqual([]);
  });

  it("that tells another story is found", () => {
    const lines = (change: (all: string[]) => void) => (text: string) => {
      const all = text.trimEnd().split("\n");
      change(all);
      return `${all.join("\n")}\n`;
    };
    expect(forged(LOG_FILE, (text) => text.replace('"fail"', '"pass"'))).toEqual([
      expect.stringContaining("result 2 is not"),
    ]);
    expect(forged(LOG_FILE, (text) => text.replace('"outcome":"failed"', '"outcome":"passed"'))).toEqual([
      expect.stringContaining('does not end as "failed"'),
    ]);
    expect(
      forged(
        LOG_FILE,
        lines((all) => all.splice(2, 1)),
      )[0],
    ).toContain("1 results, the record has 2");
    expect(
      forged(
        LOG_FILE,
        lines((all) => all.pop()),
      )[0],
    ).toContain("does not end");
    expect(
      forged(
        LOG_FILE,
        lines((all) => all.splice(1, 0, all.splice(2, 1)[0]!)),
      ),
    ).not.toEqual([]);
    expect(forged(LOG_FILE, (text) => text.replace('"at":9', '"at":1'))[0]).toContain("run backwards");
    expect(forged(LOG_FILE, (text) => text.replace('"at":9', '"at":9,"at":8'))[0]).toContain("stands twice");
    expect(forged(LOG_FILE, (text) => text.replace('"at":9', '"more":1,"at":9'))[0]).toContain("line 4");
    expect(forged(LOG_FILE, (text) => text.trimEnd())[0]).toContain("does not end");
    expect(forged(LOG_FILE, (text) => `${text}${" ".repeat(70_000)}\n`)[0]).toContain("the limit is 65536");
  });

  it("has a line for each phase once, and none for what it does not tell", () => {
    const progress: RunEvent = { type: "progress", case: "c", route: "r", phase: "run", fraction: 0.5 };
    const first = logLine(progress, 1, undefined);
    expect(first).toEqual({ type: "phase", at: 1, case: "c", route: "r", phase: "run" });
    expect(logLine(progress, 2, first)).toBeUndefined();
    expect(logLine({ ...progress, phase: "repeat" }, 2, first)).toMatchObject({ phase: "repeat", at: 2 });
    expect(logLine({ type: "finished", outcome: "passed", reason: null }, 2, first)).toBeUndefined();
    expect(logText([{ type: "skip", at: 1.23456, case: "c" }])).toBe('{"type":"skip","at":1.2,"case":"c"}\n');
  });
});

describe("a bundle of an earlier version", () => {
  it("has neither log nor report, which is no fault; half a report is one", () => {
    const without = (drop: (file: string) => boolean): readonly string[] => {
      const copy = path.join(folder, "copy");
      fs.cpSync(bundle, copy, { recursive: true });
      try {
        const place = path.join(copy, "data/record.json");
        const changed = JSON.parse(fs.readFileSync(place, "utf8")) as RunRecord;
        for (const { path: file } of changed.files) if (drop(file)) fs.rmSync(path.join(copy, file));
        changed.files = changed.files.filter((file) => !drop(file.path));
        fs.writeFileSync(place, stableJson(changed));
        if (
          fs.existsSync(path.join(copy, "data/report")) &&
          fs.readdirSync(path.join(copy, "data/report")).length === 0
        ) {
          fs.rmdirSync(path.join(copy, "data/report"));
        }
        reseal(copy);
        return verifyBundle(copy).checks.flatMap((check) => check.reasons);
      } finally {
        fs.rmSync(copy, { recursive: true, force: true });
      }
    };
    expect(without((file) => file === LOG_FILE || file.startsWith("data/report/"))).toEqual([]);
    expect(without((file) => file.endsWith("index.html"))).toEqual([
      "data/report/index.html: missing, and other parts of a report are there",
    ]);
  });
});

describe("a report", () => {
  it("that says other than the record is found, in each of its files", () => {
    for (const { path: file } of reportFiles(record)) {
      expect(forged(file, (text) => text.replace("gqa_decode", "gqa_encode"))).toEqual([
        `${file}: not what the record gives`,
      ]);
    }
    expect(
      forged("data/report/index.html", (text) => text.replace("not run", "pass").replace("✕ fail", "✓ pass")),
    ).not.toEqual([]);
  });

  it("of another version is noted, not held against this one", () => {
    const other = forged("data/report/junit.xml", (text) => text.replace(REPORT_VERSION, "lockstep.report/0"));
    expect(other).toEqual([
      "data/report/junit.xml is of another version and was not compared with the record: read the record.",
    ]);
  });

  it("counts what did not run as an error, to no CI a pass", () => {
    const unfinished = { ...record, outcome: "crashed" as const, results: record.results.slice(0, 1) };
    const junit = reportFiles(unfinished)[1]!.text;
    expect(junit).toContain('tests="2" failures="0" errors="1"');
    expect(junit).toContain('<error type="not run"');
    expect(reportFiles(record)[1]!.text).toContain('tests="2" failures="1" errors="0"');
    expect(reportFiles(unfinished)[2]!.text).toContain(",not_run,not begun,");
  });

  it("loads nothing, runs nothing, and lets no words of a record become markup", () => {
    const hostile = {
      ...record,
      outcomeReason: '<script>alert(1)</script>"\u0000\ud800',
      command: ["</style><img src=x>"],
      suite: "=cmd()",
      planned: [{ case: '=HYPERLINK("x"),"', route: "a]]>&<b" }],
      results: [],
    };
    const [html, junit, csv] = reportFiles(hostile).map((file) => file.text);
    expect(html).toContain("default-src 'none'");
    const style = /<style>([\s\S]*?)<\/style>/.exec(html!)![1]!;
    expect(html).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    expect(html).not.toMatch(/<script|<img|<\/style><|https?:/);
    expect(html).toContain("&quot;\ufffd\ufffd</p>");
    expect(junit).toContain('name="a]]&gt;&amp;&lt;b"');
    expect(csv!.split("\n")[1]).toMatch(/^"'=HYPERLINK\(""x""\),""",/);
  });

  it("says that emulated evidence is none about a chip", () => {
    for (const { path: file, text } of reportFiles(record))
      expect([file, text.includes("emulated")]).toEqual([file, true]);
    expect(fixtureBundle(folder).record.files.filter((file) => file.role === "report")).toHaveLength(3);
  });
});
