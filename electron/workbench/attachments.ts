/** Attachments of kept runs, for the window. What was opened from elsewhere is read-only. */
import path from "node:path";
import type { AttachmentKind } from "../attachments/attachment.ts";
import { dispatchLabels } from "../attachments/matches.ts";
import { attach, detach, readAttachments } from "../attachments/store.ts";
import type { CallOutput } from "../contract.ts";
import { WorkbenchError } from "./failure.ts";
import type { History } from "./history.ts";

export interface AttachAsked {
  readonly id: string;
  readonly file: string;
  /** Name that it is kept under; null for that of the file. */
  readonly name: string | null;
  readonly kind: AttachmentKind | null;
}

export class Attachments {
  readonly #history: History;
  readonly #importedBy: string;
  readonly #isOpened: (id: string) => boolean;
  /** One after the other, so that two windows cannot both attach the same file. */
  #writing: Promise<unknown> = Promise.resolve();

  /** `isOpened` says whether a bundle was opened from elsewhere. */
  constructor(history: History, importedBy: string, isOpened: (id: string) => boolean) {
    this.#history = history;
    this.#importedBy = importedBy;
    this.#isOpened = isOpened;
  }

  async list(id: string): Promise<CallOutput<"attachments.list">> {
    const bundle = await this.#history.bundle(id);
    const record = await this.#history.record(id);
    return {
      attachments: await readAttachments(bundle),
      labels: dispatchLabels(record),
      readOnly: this.#isOpened(id) ? "opened from elsewhere, read-only" : null,
    };
  }

  /** Throws AttachmentError for what cannot be attached, `WorkbenchError` for a bundle that is read-only. */
  attach({ id, file, name, kind }: AttachAsked): Promise<CallOutput<"attachments.attach">> {
    return this.#inTurn(async () => {
      const bundle = await this.#own(id);
      const given = { bundle, file: path.resolve(file), kind, importedBy: this.#importedBy, now: new Date() };
      const { id: attachment } = await attach(name === null ? given : { ...given, name });
      return { attachment };
    });
  }

  remove(id: string, attachment: string): Promise<CallOutput<"attachments.remove">> {
    return this.#inTurn(async () => ({ removed: await detach(await this.#own(id), attachment) }));
  }

  async #own(id: string): Promise<string> {
    if (this.#isOpened(id)) {
      throw new WorkbenchError(
        `${id} was opened from elsewhere and is read-only`,
        "copy it into the folder of this machine's bundles",
      );
    }
    return this.#history.bundle(id);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => undefined);
    return done;
  }
}
