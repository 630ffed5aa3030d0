/** `lockstep attach` and `lockstep attachments`: files of other tools beside a bundle, and what they say. */
import fs from "node:fs";
import path from "node:path";
import {
  ATTACHED_WORDS,
  ATTACHMENT_KINDS,
  type AttachedSeries,
  type Attachment,
  attachedFigure,
  DOES_NOT_SHOW,
  KIND_WORDS,
  type ListedAttachment,
} from "../attachments/attachment.ts";
import { type DispatchLabel, dispatchLabels, matchByName } from "../attachments/matches.ts";
import { attach, attachmentsHold, detach, readAttachments, verifyAttachments } from "../attachments/store.ts";
import { stableJson } from "../evidence/json.ts";
import { appVersion, type Places } from "../host/root.ts";
import { UsageError, unknownName } from "../runs/usage.ts";
import { bytesText, counted } from "../words.ts";
import { openRecord, withBundleAsync } from "./bundle_argument.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export interface AttachOptions {
  readonly kind?: string;
  readonly json?: boolean;
}

/** Attaches a file to the bundle in a folder. Exit 0; a file that is none of the kinds cannot be attached: exit 2. */
export async function attachFile(
  bundle: string,
  file: string,
  options: AttachOptions,
  places: Places,
  output: Output,
): Promise<number> {
  if (fs.statSync(bundle, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`${bundle} is no folder: give the folder of a bundle, not a zip of it.`);
  }
  const kind = ATTACHMENT_KINDS.find((name) => name === options.kind) ?? null;
  if (options.kind !== undefined && kind === null) throw unknownName("kind", options.kind, ATTACHMENT_KINDS);
  const record = openRecord(bundle);
  const importedBy = `lockstep ${appVersion(places.root)}`;
  const { id, attachment } = await attach({ bundle, file, kind, importedBy, now: new Date() });
  if (options.json) {
    output.line(stableJson({ id, attachment }).trimEnd());
    return EXIT.passed;
  }
  for (const line of attachmentLines({ id, attachment, reasons: [] }, dispatchLabels(record), 12)) output.line(line);
  output.line(ATTACHED_WORDS);
  return EXIT.passed;
}

export interface AttachmentsOptions {
  readonly remove?: string;
  readonly json?: boolean;
}

/** Lists and verifies what is attached. Exit 0 where all of it held, 1 where an attachment is broken. */
export function listAttachments(bundle: string, options: AttachmentsOptions, output: Output): Promise<number> {
  if (options.remove !== undefined) return remove(bundle, options.remove, options.json === true, output);
  return withBundleAsync(bundle, async (folder) => {
    const labels = dispatchLabels(openRecord(folder));
    const verified = await verifyAttachments(folder);
    const exit = attachmentsHold(verified) ? EXIT.passed : EXIT.failed;
    if (options.json) {
      const matched = verified.attachments.map((entry) => ({ ...entry, matches: matchesOf(entry, labels) }));
      output.line(stableJson({ attachments: matched, reasons: verified.reasons }).trimEnd());
      return exit;
    }
    for (const entry of verified.attachments) {
      for (const line of attachmentLines(entry, labels, Number.POSITIVE_INFINITY)) output.line(line);
      output.line("");
    }
    for (const reason of verified.reasons) output.line(`BROKEN  ${reason}`);
    if (verified.attachments.length > 0) output.line(ATTACHED_WORDS);
    else if (verified.reasons.length === 0) output.line("Nothing is attached");
    return exit;
  });
}

async function remove(bundle: string, given: string, json: boolean, output: Output): Promise<number> {
  const found = (await readAttachments(bundle)).filter((entry) => entry.id.startsWith(given));
  const [only] = found;
  if (found.length !== 1 || only === undefined || given.length < 6) {
    throw new UsageError(
      `--remove ${given} names ${counted(found.length, "attachment")}: give six digits of an id, or more.`,
    );
  }
  await detach(bundle, only.id);
  output.line(json ? stableJson({ removed: only.id }).trimEnd() : `removed ${only.id.slice(0, 12)}`);
  return EXIT.passed;
}

/** Labels of an attachment that are called like dispatches of the run. */
function matchesOf(
  entry: ListedAttachment,
  labels: readonly DispatchLabel[],
): readonly { label: string; dispatch: string }[] {
  const all = new Set(entry.attachment?.summary.series.map((series) => series.label) ?? []);
  return [...all].flatMap((label) => {
    const match = matchByName(label, labels);
    return match === null ? [] : [{ label, dispatch: match.label }];
  });
}

/** The lines of one attachment; `most` series of it. */
function attachmentLines(entry: ListedAttachment, labels: readonly DispatchLabel[], most: number): readonly string[] {
  const { id, attachment, reasons } = entry;
  const state = reasons.length === 0 ? "" : "BROKEN  ";
  if (attachment === null) return [`${state}${id.slice(0, 12)}`, ...reasons.map((reason) => `  ${reason}`)];
  const { kind, original, summary } = attachment;
  return [
    `${state}${id.slice(0, 12)}  ${original.name}, ${KIND_WORDS[kind]}, ${bytesText(Number(original.bytes))}, sha256 ${original.sha256.slice(0, 12)}`,
    ...reasons.map((reason) => `  ${reason}`),
    `  tool: ${summary.tool.name}, version ${summary.tool.version ?? "not stated in the file"}; attached ${attachment.importedAt}`,
    ...summary.facts.map(({ label, value }) => `  ${label}: ${value}`),
    ...summary.tables.map(
      (table) => `  ${table.name}: ${counted(table.rows, "row")}; ${table.read ?? `not read, ${table.reason}`}`,
    ),
    ...seriesLines(attachment, labels, most),
    ...summary.notes.map((note) => `  ${note}`),
    ...DOES_NOT_SHOW[kind].map((words) => `  does not show ${words}`),
  ];
}

function seriesLines({ summary }: Attachment, labels: readonly DispatchLabel[], most: number): readonly string[] {
  if (summary.series.length === 0) return [];
  const rows = summary.series.slice(0, most).map((series) => seriesCells(series, labels));
  const head = ["label", "what", "count", "sum", "min", "median", "max", "unit", "called like"];
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]): string =>
    `    ${cells.map((cell, index) => (index > 1 && index < 7 ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!))).join("  ")}`.trimEnd();
  const rest = summary.series.length - rows.length;
  return [
    line(head),
    ...rows.map(line),
    ...(rest > 0 ? [`    and ${rest.toLocaleString("en-US")} further series: lockstep attachments`] : []),
  ];
}

function seriesCells(series: AttachedSeries, labels: readonly DispatchLabel[]): readonly string[] {
  const { label, process, channel, depth, quantity, unit, count, sum, min, median, max } = series;
  const where = [process, channel, depth === null || depth === 0 ? null : `level ${depth}`].filter(
    (word) => word !== null,
  );
  const match = matchByName(label, labels);
  return [
    label,
    [quantity, ...where].join(", "),
    count.toLocaleString("en-US"),
    sum === null ? "none" : attachedFigure(sum),
    attachedFigure(min),
    attachedFigure(median),
    attachedFigure(max),
    unit ?? "not stated",
    match === null ? "" : `${match.label}, by name`,
  ];
}

/** The word of a bundle's attachments behind its own checks; none where there are none. */
export async function attachedCheckLines(folder: string): Promise<{
  readonly lines: readonly string[];
  readonly held: boolean;
  readonly verified: Awaited<ReturnType<typeof verifyAttachments>>;
}> {
  const verified = await verifyAttachments(folder);
  const lines = [
    ...verified.reasons.map((reason) => `BROKEN  attached: ${reason}`),
    ...verified.attachments.flatMap(({ id, attachment, reasons }) => [
      `${reasons.length === 0 ? "held  " : "BROKEN"}  attached ${id.slice(0, 12)}${attachment === null ? "" : `: ${path.basename(attachment.original.name)}, ${KIND_WORDS[attachment.kind]}`}`,
      ...reasons.map((reason) => `           ${reason}`),
    ]),
  ];
  return { lines, held: attachmentsHold(verified), verified };
}
