/** The campaign on a seeded tenth of the mutants, and on one that changes nothing, which it must not call caught. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostFacts } from "../../../electron/host/facts.ts";
import { type Bench, campaign, type MutantResult } from "../../../electron/mutation/campaign.ts";
import type { Mutant } from "../../../electron/mutation/mutant.ts";
import { catalogueFor } from "../../../electron/runs/catalogue.ts";
import { openBench, STANDARD, WHERE } from "../runs/harness.ts";

const FIVE_MINUTES = 300_000;

describe(
  "a mutant",
  () => {
    let bench: Bench;
    beforeAll(async () => {
      const { device, addon } = await openBench();
      bench = {
        device,
        addon,
        catalogue: catalogueFor(device.profile),
        suite: STANDARD,
        host: hostFacts(),
        read: (file) => fs.readFileSync(path.join(WHERE.kernels, file), "utf8"),
      };
    });
    afterAll(() => bench.device.close());

    const fateOf = async (text: string): Promise<MutantResult["fate"]> => {
      const mutant: Mutant = {
        id: "test",
        class: "bounds",
        operator: "mla_prefill",
        file: "mla_prefill/naive.metal",
        line: 1,
        was: "",
        now: "",
        what: "",
        text,
      };
      const [result] = await campaign({
        mutants: [mutant],
        benches: [bench],
        signal: new AbortController().signal,
        onResult: () => {},
      });
      return result!.fate;
    };

    it("that changes nothing survives", async () => {
      const text = bench.read("mla_prefill/naive.metal");
      expect(await fateOf(`${text}\n// another comment\n`)).toEqual({ state: "survived" });
    });

    it("that does not compile is refused, and one that loops for ever is stopped", async () => {
      const text = bench.read("mla_prefill/naive.metal");
      expect(await fateOf(text.replace("float maximum = -INFINITY;", "float maximum = ;"))).toMatchObject({
        by: "refusal",
      });
      const endless = text.replace(
        "float maximum = -INFINITY;",
        "float maximum = -INFINITY; while (params.heads > 0) {}",
      );
      expect(await fateOf(endless)).toMatchObject({ state: "caught", by: "refusal" });
    });
  },
  FIVE_MINUTES,
);

it(
  "a tenth of the mutants is caught",
  () => {
    const program = path.join(path.dirname(WHERE.host), "mutate.mjs");
    const done = spawnSync(process.execPath, [program, "--sample", "--seed", "7"], { encoding: "utf8" });
    expect(done.stdout).toContain(" 0 survived");
    expect(done.status).toBe(0);
  },
  FIVE_MINUTES,
);
