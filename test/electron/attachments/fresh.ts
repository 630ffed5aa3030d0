/** A fresh bundle for each test of attachments, with files beside it to attach. */
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { AttachmentKind } from "../../../electron/attachments/attachment.ts";
import { attach } from "../../../electron/attachments/store.ts";
import { fixtureBundle, temporary } from "../evidence/fixture.ts";

export interface Fresh {
  /** Temporary folder; it goes after the test. */
  readonly out: string;
  /** Folder of the bundle in it. */
  readonly bundle: string;
}

/** @param take gets folder and bundle before each test */
export function freshBundles(take: (fresh: Fresh) => void): void {
  let out: string;
  beforeEach(() => {
    out = temporary();
    take({ out, bundle: fixtureBundle(out).path });
  });
  afterEach(() => fs.rmSync(out, { recursive: true, force: true }));
}

/** Writes a file into the folder. Returns its path. */
export function fileIn(out: string, name: string, text: string | Uint8Array): string {
  const place = path.join(out, name);
  fs.writeFileSync(place, text);
  return place;
}

export function attachTo(bundle: string, file: string, kind: AttachmentKind | null = null): ReturnType<typeof attach> {
  return attach({ bundle, file, kind, importedBy: "lockstep test", now: new Date("2026-11-29T10:00:00Z") });
}
