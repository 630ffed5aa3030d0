/**
 * Compiled pipelines on disk: a binary archive for each, in the module cache, under a digest of everything that decides
 * what Metal's compiler makes.
 */
import { join } from "node:path";
import * as z from "zod";
import { type ModuleCache, sha256 } from "../emulator/cache.ts";
import type { MetalConstant, MetalPipelineReply } from "./binding.ts";

/** Changes when what is kept of a pipeline changes. */
const LAYOUT = 1;
const FILE = "pipeline.archive";

/** What goes into a pipeline. */
export interface PipelineKey {
  readonly source: string;
  readonly macros: readonly (readonly [string, string])[];
  readonly language: number;
  readonly mathMode: string;
  readonly logging: boolean;
  readonly function: string;
  readonly constants: readonly MetalConstant[];
  readonly maxTotalThreadsPerThreadgroup: number | null;
  readonly requiredThreadsPerThreadgroup: readonly number[] | null;
  /** `kern.osversion`: the compiler belongs to the build of macOS. */
  readonly osBuild: string | null;
  readonly osVersion: string;
  readonly architecture: string | null;
  /** `MTLDevice.name`: what the IO registry calls the GPU. */
  readonly deviceName: string;
}

/** SHA-256 of the key. Constants count by index, type and bytes. */
export function pipelineDigest(key: PipelineKey): string {
  const constants = key.constants.map(({ index, type, bytes }) => [index, type, Buffer.from(bytes).toString("hex")]);
  const plain = { ...key, constants, macros: [...key.macros].sort(([a], [b]) => (a < b ? -1 : 1)) };
  return sha256(JSON.stringify([LAYOUT, Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1))]));
}

/** The archive says everything itself. */
const entrySchema = z.strictObject({});

/** The pipeline was made, but nothing of it was kept. */
class NotKept extends Error {}

type Build = (archive: string | null) => Promise<MetalPipelineReply>;

/**
 * Builds a pipeline with the archive of its digest: looks it up where it is kept, keeps it where it was not. A cache that
 * cannot be read or written only costs the time to compile.
 * @param build asks Metal, with the path of the archive to look in and to add to
 */
export async function buildWithArchive(cache: ModuleCache, digest: string, build: Build): Promise<MetalPipelineReply> {
  const kept = await cache.lookup("archive", digest, entrySchema).catch(() => undefined);
  if (kept !== undefined) {
    const reply = await build(join(kept.folder, FILE));
    // What Metal does not take is of no use to the next one either; what it wrote anew is not what the entry is checked by.
    if (!reply.ok || reply.archive !== "hit") await cache.remove("archive", digest);
    return reply;
  }
  const draft: { reply?: MetalPipelineReply } = {};
  const stored = cache.store("archive", digest, entrySchema, async (folder) => {
    draft.reply = await build(join(folder, FILE));
    if (!draft.reply.ok || draft.reply.archive !== "added") throw new NotKept();
    return {};
  });
  await stored.catch(() => undefined);
  return draft.reply ?? (await build(null));
}
