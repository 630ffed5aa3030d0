/** Verification fails for every byte that is flipped, every file that is added, removed or renamed, and every false verdict. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MANIFEST, sha256File, walk } from "../../../electron/evidence/bag.ts";
import { stableJson } from "../../../electron/evidence/json.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import type { RunRecord } from "../../../electron/runs/record.ts";
import { fixtureBundle, reseal, temporary } from "./fixture.ts";

let folder: string;
let bundle: string;

beforeAll(() => {
  folder = temporary();
  bundle = fixtureBundle(folder).path;
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Verifies a copy that `change` was applied to: the ids of the checks that broke. */
function broken(change: (root: string) => void): readonly string[] {
  const copy = path.join(folder, "copy");
  fs.cpSync(bundle, copy, { recursive: true, verbatimSymlinks: true });
  try {
    change(copy);
    const { result, checks } = verifyBundle(copy);
    const ids = checks.filter((check) => check.reasons.length > 0).map((check) => check.id);
    expect(result).toBe(ids.length === 0 ? "valid" : "invalid");
    return ids;
  } finally {
    fs.rmSync(copy, { recursive: true, force: true });
  }
}

function fixtureGates(): RunRecord["results"][number]["gates"] {
  const record = JSON.parse(fs.readFileSync(path.join(bundle, "data/record.json"), "utf8")) as RunRecord;
  return record.results[1]!.gates;
}

type Editable = { -readonly [K in keyof RunRecord]: RunRecord[K] };

/** Forges the record consistently with all digests: only re-derivation can find it. */
function forged(edit: (record: Editable) => void): readonly string[] {
  return broken((root) => {
    const file = path.join(root, "data/record.json");
    const record = JSON.parse(fs.readFileSync(file, "utf8")) as Editable;
    edit(record);
    fs.writeFileSync(file, stableJson(record));
    reseal(root);
  });
}

describe("a sound bundle", () => {
  it("is valid, with an identity", () => {
    const verification = verifyBundle(bundle);
    expect(verification.checks.flatMap((check) => check.reasons)).toEqual([]);
    expect(verification).toMatchObject({
      result: "valid",
      notes: [],
      identity: sha256File(path.join(bundle, MANIFEST)),
    });
    expect(broken(reseal)).toEqual([]);
  });

  it("is valid when it records a failure", () => {
    const out = temporary();
    const failed = fixtureBundle(out, { error: 0.5 });
    expect(failed.record.outcome).toBe("failed");
    expect(verifyBundle(failed.path).result).toBe("valid");
    fs.rmSync(out, { recursive: true });
  });
});

describe("a difference in the files", () => {
  it("a flipped bit in any file is seen", () => {
    for (const file of walk(bundle).files) {
      for (const where of [0, 0.5, 1]) {
        const ids = broken((root) => {
          const target = path.join(root, file.path);
          const bytes = fs.readFileSync(target);
          bytes[Math.round((bytes.length - 1) * where)]! ^= 1;
          fs.writeFileSync(target, bytes);
        });
        expect([file.path, where, ids.length > 0]).toEqual([file.path, where, true]);
      }
    }
  });

  it("a missing, added, renamed or emptied file is seen", () => {
    for (const file of walk(bundle).files) {
      const target = (root: string) => path.join(root, file.path);
      expect(broken((root) => fs.rmSync(target(root)))).not.toEqual([]);
      expect(broken((root) => fs.renameSync(target(root), `${target(root)}2`))).not.toEqual([]);
      expect(broken((root) => fs.writeFileSync(target(root), ""))).not.toEqual([]);
    }
    expect(broken((root) => fs.writeFileSync(path.join(root, "data/extra.txt"), ""))).toContain("complete");
    expect(broken((root) => fs.writeFileSync(path.join(root, "fetch.txt"), ""))).toEqual(["files"]);
    expect(broken((root) => fs.mkdirSync(path.join(root, "data/empty")))).toEqual(["files"]);
  });

  it("symbolic links are refused, even to the same bytes", () => {
    const ids = broken((root) => {
      const target = path.join(root, "data/command.txt");
      const elsewhere = path.join(folder, "elsewhere.txt");
      fs.copyFileSync(target, elsewhere);
      fs.rmSync(target);
      fs.symlinkSync(elsewhere, target);
    });
    expect(ids).toContain("files");
  });

  it("upper-case names are refused", () => {
    const ids = broken((root) => {
      fs.renameSync(path.join(root, "data/command.txt"), path.join(root, "data/Command.txt"));
      reseal(root);
    });
    expect(ids).toContain("files");
  });

  it("a resealed stray file is not in the record", () => {
    const ids = broken((root) => {
      fs.writeFileSync(path.join(root, "data/kernels/stray.metal"), "");
      reseal(root);
    });
    expect(ids).toEqual(["references"]);
  });
});

describe("a record that lies", () => {
  it("duplicate keys and unknown keys are refused", () => {
    const duplicate = broken((root) => {
      const file = path.join(root, "data/record.json");
      fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(/^\{/, '{"outcome":"failed",'));
      reseal(root);
    });
    expect(duplicate).toContain("json");
    expect(forged((record) => Object.assign(record, { extra: 1 }))).toContain("json");
  });

  it("a swapped output is seen", () => {
    const ids = broken((root) => {
      fs.copyFileSync(
        path.join(root, "data/parity/case0/naive/out.f32"),
        path.join(root, "data/parity/case1/naive/out.f32"),
      );
      reseal(root);
    });
    expect(ids).toEqual(["references"]);
  });

  it("false verdicts, outcomes and claims are seen", () => {
    const gate = (record: Editable) => record.results[0]!.gates.find((entry) => entry.id === "max_abs")!;
    expect(forged((record) => Object.assign(gate(record), { value: 1 }))).toContain("verdicts");
    expect(forged((record) => Object.assign(gate(record), { value: "NaN" }))).toContain("verdicts");
    expect(forged((record) => Object.assign(gate(record), { verdict: "fail" }))).toContain("verdicts");
    expect(forged((record) => Object.assign(record, { outcome: "failed" }))).toContain("verdicts");
    expect(forged((record) => record.results.pop())).toContain("verdicts");
    expect(forged((record) => Object.assign(record.claims[0]!, { level: "boundary" }))).toContain("verdicts");
    expect(forged((record) => Object.assign(record.claims[0]!, { supportsChip: "M3 Max" }))).toContain("verdicts");
    expect(forged((record) => Object.assign(record.results[0]!, { gates: [] }))).toContain("verdicts");
  });

  it("a limit that was raised is seen", () => {
    const raised = (id: string) =>
      forged((record) => {
        const limited = record.results[1]!.gates.find((entry) => entry.id === id)!;
        // Of lse only a bound is known: the reference itself is in no file.
        const factor = id === "lse" ? 10 : 1.01;
        Object.assign(limited, { limit: (limited.limit ?? 0) * factor + 1e-9 });
      });
    for (const { id, limit } of fixtureGates()) {
      if (limit !== null) expect([id, raised(id)]).toEqual([id, expect.arrayContaining(["verdicts"])]);
    }
  });

  it("a gate that is left out is missed", () => {
    const without = (id: string) =>
      forged((record) => {
        for (const result of record.results) {
          Object.assign(result, { gates: result.gates.filter((entry) => entry.id !== id) });
        }
      });
    for (const id of [
      "launched",
      "coverage",
      "finite",
      "max_abs",
      "nmse_row",
      "lse",
      "sentinels",
      "repeat",
      "lockstep",
    ]) {
      expect([id, without(id)]).toEqual([id, ["verdicts"]]);
    }
    const twice = forged((record) => record.results[0]!.gates.push(record.results[0]!.gates[0]!));
    expect(twice).toEqual(["verdicts"]);
  });

  it("another device, host or set of gates than the record names is seen", () => {
    expect(forged((record) => Object.assign(record.device!, { id: "metal:0" }))).toContain("references");
    expect(forged((record) => Object.assign(record.host, { cores: 99 }))).toContain("references");
    expect(forged((record) => Object.assign(record.gates, { sha256: "0".repeat(64) }))).toContain("references");
  });
});

describe("other gates", () => {
  it("are noted, because two verdicts are comparable only under the same gates", () => {
    const copy = path.join(folder, "gates");
    fs.cpSync(bundle, copy, { recursive: true });
    const gates = path.join(copy, "data/gates/gates.json");
    fs.writeFileSync(gates, fs.readFileSync(gates, "utf8").replace('"slope": 0.001', '"slope": 0.01'));
    const file = path.join(copy, "data/record.json");
    const record = JSON.parse(fs.readFileSync(file, "utf8")) as Editable;
    const digest = sha256File(gates);
    Object.assign(record.gates, { sha256: digest });
    const entry = record.files.find((candidate) => candidate.role === "gates")!;
    Object.assign(entry, { sha256: digest, bytes: String(fs.statSync(gates).size) });
    fs.writeFileSync(file, stableJson(record));
    reseal(copy);
    expect(verifyBundle(copy)).toMatchObject({
      result: "valid",
      notes: ["The gates of this bundle are not those of this program."],
    });
  });
});

describe("a folder that does not end", () => {
  it("pipes in the place of any file are refused, not waited for", () => {
    for (const file of ["bagit.txt", MANIFEST, "data/record.json"]) {
      const ids = broken((root) => {
        fs.rmSync(path.join(root, file));
        execFileSync("mkfifo", [path.join(root, file)]);
      });
      expect(ids).toContain("files");
    }
  });

  it("files beyond the limits are not read", () => {
    for (const file of ["bagit.txt", "bag-info.txt", MANIFEST, "data/record.json", "data/command.txt"]) {
      const ids = broken((root) => fs.truncateSync(path.join(root, file), 1e12));
      expect(ids).toContain("files");
    }
  });

  it("names that are no UTF-8 are refused", () => {
    const name = Buffer.concat([Buffer.from("/data/"), Buffer.from([0xff])]);
    expect(broken((root) => fs.writeFileSync(Buffer.concat([Buffer.from(root), name]), ""))).toEqual(["files"]);
  });

  it("thousands of files are not all listed", () => {
    const ids = broken((root) => {
      for (let i = 0; i < 9000; i++) fs.writeFileSync(path.join(root, `${i}`), "");
    });
    expect(ids).toContain("files");
  });
});

it("what is no bundle at all is invalid, not an exception", () => {
  const empty = path.join(folder, "empty");
  fs.mkdirSync(empty);
  const { result, checks } = verifyBundle(empty);
  expect(result).toBe("invalid");
  expect(checks.every((check) => check.reasons.length > 0 || check.id === "digests")).toBe(true);
});
