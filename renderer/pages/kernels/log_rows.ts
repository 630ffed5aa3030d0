/** What the kernels of a checked manifest logged with `os_log`, as rows of a table. Pure. */
import { countText, plural } from "../../parts/text.ts";
import type { KernelAnswer } from "./report_rows.ts";

export type KernelLog = NonNullable<KernelAnswer["stage"]["outcomes"][number]["log"]>;

/** The log of the flavour whose reports count; undefined where it logged nothing. */
export function logOf({ stage }: KernelAnswer): KernelLog | undefined {
  return stage.outcomes.at(-1)?.log;
}

export const LOG_COLUMNS = [
  { title: "level", text: true },
  { title: "dispatch", text: true },
  { title: "threadgroup" },
  { title: "thread" },
  { title: "message", text: true },
] as const;

/** The cells of a line; empty where the device does not tell. */
export function logCells({ lines }: KernelLog, index: number): readonly string[] {
  const line = lines[index];
  if (line === undefined) return [];
  const { level, label, message, subsystem, category, threadgroup, thread } = line;
  const source = [subsystem, category].filter((word) => word !== undefined);
  return [
    level,
    label,
    threadgroup === undefined ? "" : threadgroup.map(countText).join(", "),
    thread === undefined ? "" : countText(thread),
    source.length === 0 ? message : `${source.join(", ")}: ${message}`,
  ];
}

/** `1,000 lines, 24 more not kept`. */
export function logMeta({ lines, lost }: KernelLog): string {
  return lost === 0
    ? plural(lines.length, "line")
    : `${plural(lines.length, "line")}, ${countText(lost)} more not kept`;
}
