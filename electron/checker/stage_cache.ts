/**
 * The checker's word on a manifest, kept in the cache folder of the system under the digest of everything that it depends
 * on: texts, manifest, sizes, device, compiler, the emulator's own files. A stage that did not come to an end is not kept.
 */
import fs from "node:fs";
import type { DeviceProfile } from "../../native/device.ts";
import { ModuleCache, sha256 } from "../../native/emulator/cache.ts";
import { headersDigest } from "../../native/emulator/module.ts";
import { stableJson } from "../evidence/json.ts";
import type { Sizes } from "../manifest/expression.ts";
import type { LoadedManifest } from "../manifest/sources.ts";
import { type CheckStage, checkStageSchema } from "./messages.ts";

export interface StageKey {
  readonly loaded: LoadedManifest;
  readonly sizes: Sizes;
  readonly profile: DeviceProfile;
  readonly runner: string;
  /** Version of the program: its words and its policy are part of what is kept. */
  readonly version: string;
}

/** The digest that a stage is kept under. */
export function stageDigest({ loaded, sizes, profile, runner, version }: StageKey): string {
  const { manifest, source, includes } = loaded;
  // Words for people change nothing.
  const { name: _name, note: _note, project: _project, $schema: _schema, ...rest } = manifest;
  return sha256(
    stableJson({
      version,
      manifest: JSON.parse(JSON.stringify(rest)),
      texts: [source, ...includes].map(({ path, text }) => [path, sha256(text)]),
      sizes: { ...sizes },
      // What is said of a paged case names addresses.
      ...(manifest.pages === undefined ? {} : { pageOrder: "lockstep.fmix32/1" }),
      device: [profile.id, profile.toolchain.value],
      emulator: [headersDigest(), sha256(fs.readFileSync(runner))],
    }),
  );
}

export class StageCache {
  readonly #cache: ModuleCache;

  constructor(cache: ModuleCache = new ModuleCache()) {
    this.#cache = cache;
  }

  async lookup(digest: string): Promise<CheckStage | undefined> {
    return (await this.#cache.lookup("verdict", digest, checkStageSchema))?.facts;
  }

  /** Keeps a stage that is whole. A cache that cannot be written costs time, not the answer. */
  async keep(digest: string, stage: CheckStage): Promise<void> {
    const whole = stage.outcomes.every(({ error, check }) => error === null && check?.complete === true);
    if (!whole) return;
    // JSON has no NaN: stable JSON has a word for it, which the schema reads.
    const facts = JSON.parse(stableJson(stage)) as CheckStage;
    await this.#cache.store("verdict", digest, checkStageSchema, async () => facts).catch(() => undefined);
  }
}
