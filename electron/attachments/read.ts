/** Reads a file to be attached, in pieces: what kind it is, its digest and its summary. */
import { createHash } from "node:crypto";
import {
  ATTACHMENT_LIMITS,
  AttachmentError,
  type AttachmentKind,
  type AttachmentSummary,
  KIND_WORDS,
} from "./attachment.ts";
import { CSV_LIMITS, readCounters } from "./counters_csv.ts";
import { XctraceReader } from "./xctrace.ts";

export interface ReadAttachment {
  readonly kind: AttachmentKind;
  readonly bytes: number;
  /** SHA-256 of the original bytes. */
  readonly sha256: string;
  readonly summary: AttachmentSummary;
}

/** The first bytes of a file that tell its kind. */
const HEAD_BYTES = 4096;

/**
 * The kind of a file by its first bytes: markup is an export of xctrace, a header of Xcode's Counters tab its counters.
 * Throws AttachmentError for what is neither.
 */
export function kindOf(name: string, head: Uint8Array): AttachmentKind {
  const [a = 0, b = 0] = head;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    throw new AttachmentError(`${name}: UTF-16; write it as UTF-8 again`);
  }
  const text = Buffer.from(head.subarray(0, HEAD_BYTES))
    .toString("latin1")
    .replace(/^\u00ef\u00bb\u00bf/, "")
    .trimStart();
  if (text.startsWith("<")) return "xctrace";
  if (/^"?Index"?,"?Encoder FunctionIndex/.test(text) || text.startsWith("Thumbnails\tName")) return "counters_csv";
  throw new AttachmentError(
    `${name}, line 1: neither an export of xctrace (<trace-query-result>) nor counters of Xcode ("Index,Encoder FunctionIndex"). A .trace or .gputrace is attached by what is exported from it`,
  );
}

/**
 * Reads a file to its end. `stated` is the kind that the user gives; otherwise the content tells it. Throws AttachmentError
 * with the line and what was expected. Between two pieces the event loop gets its turn.
 */
export async function readAttachment(
  name: string,
  pieces: AsyncIterable<Uint8Array>,
  stated: AttachmentKind | null = null,
): Promise<ReadAttachment> {
  const hash = createHash("sha256");
  let bytes = 0;
  let kind: AttachmentKind | undefined;
  let reader: XctraceReader | undefined;
  const whole: Uint8Array[] = [];
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > ATTACHMENT_LIMITS.originalBytes) {
      const limit = ATTACHMENT_LIMITS.originalBytes.toLocaleString("en-US");
      throw new AttachmentError(`${name}: more than ${limit} bytes: export fewer tables, or a shorter time`);
    }
    hash.update(piece);
    kind ??= stated ?? kindOf(name, piece);
    if (kind === "xctrace") {
      reader ??= new XctraceReader(name);
      reader.write(piece);
    } else {
      if (bytes > CSV_LIMITS.bytes) {
        throw new AttachmentError(
          `${name}: ${KIND_WORDS[kind]} of more than ${CSV_LIMITS.bytes.toLocaleString("en-US")} bytes`,
        );
      }
      whole.push(piece);
    }
  }
  if (kind === undefined) throw new AttachmentError(`${name}: an empty file`);
  const summary = reader === undefined ? readCounters(name, Buffer.concat(whole)) : reader.end();
  return { kind, bytes, sha256: hash.digest("hex"), summary };
}
