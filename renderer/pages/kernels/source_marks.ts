/** What stands beside the lines of a source: both sides of a report, and the bytes that a line moves. Pure. */
import type { CheckReport, CheckResult, SiteAccess, TrafficLine } from "../../../native/check.ts";
import { countText, plural, sizeText } from "../../parts/text.ts";

export interface Mark {
  readonly side: "first" | "second";
  readonly line: number;
  readonly column: number;
  /** `write`, `read`, `barrier`. */
  readonly access: SiteAccess["access"];
  /** Who: `simdgroup 1, lane 3 of threadgroup (0, 0, 0)`. */
  readonly who: string;
}

function threadText({ threadgroup, simdgroup, lane }: SiteAccess): string {
  return `simdgroup ${simdgroup}, lane ${lane} of threadgroup (${threadgroup.join(", ")})`;
}

/** The sides of a report that lie in `path`. */
export function marksOf({ first, second }: CheckReport, path: string): readonly Mark[] {
  const mark = (side: Mark["side"], site: SiteAccess | undefined): readonly Mark[] =>
    site?.location?.path === path
      ? [
          {
            side,
            line: site.location.line,
            column: site.location.column,
            access: site.access,
            who: threadText(site),
          },
        ]
      : [];
  return [...mark("first", first), ...mark("second", second)];
}

export interface LineBytes {
  /** Bytes that threads requested of device and constant memory. */
  readonly device: number;
  /** Bytes that threads requested of threadgroup memory. */
  readonly threadgroup: number;
  /** Everything, in words. */
  readonly title: string;
}

function titleOf(lines: readonly TrafficLine[]): string {
  const rows = new Map<string, { requested: number; distinct: number }>();
  for (const { access, buffer, addressSpace, bytes } of lines) {
    const key = `${access} ${buffer}${addressSpace === "threadgroup" ? " (threadgroup)" : ""}`;
    const known = rows.get(key) ?? { requested: 0, distinct: 0 };
    rows.set(key, {
      requested: known.requested + bytes.requested,
      distinct: known.distinct + bytes.distinct,
    });
  }
  return [...rows]
    .map(
      ([key, { requested, distinct }]) =>
        `${key}: ${countText(requested)} B requested, ${countText(distinct)} distinct`,
    )
    .join("; ");
}

/** What each line of `path` moves, over all dispatches. Lines that move nothing are left out. */
export function bytesByLine({ traffic }: CheckResult, path: string): ReadonlyMap<number, LineBytes> {
  const byLine = new Map<number, TrafficLine[]>();
  for (const { lines } of traffic.dispatches) {
    for (const line of lines) {
      if (line.location?.path !== path) continue;
      const known = byLine.get(line.location.line);
      if (known === undefined) byLine.set(line.location.line, [line]);
      else known.push(line);
    }
  }
  return new Map(
    [...byLine].map(([line, lines]) => {
      const sum = (threadgroup: boolean): number =>
        lines
          .filter(({ addressSpace }) => (addressSpace === "threadgroup") === threadgroup)
          .reduce((total, { bytes }) => total + bytes.requested, 0);
      return [line, { device: sum(false), threadgroup: sum(true), title: titleOf(lines) }];
    }),
  );
}

/** `1.17 MiB`; of a line that touches threadgroup memory alone `tg 16.0 KiB`. */
export function lineBytesText({ device, threadgroup }: LineBytes): string {
  return device > 0 ? sizeText(device) : `tg ${sizeText(threadgroup)}`;
}

/** What the column of bytes is of: exact or not, after optimisation, emulated, on which small case. */
export function trafficNote({ traffic }: CheckResult, on: string): string {
  const exact = traffic.exact ? "exact" : `not exact: ${traffic.exactReason}`;
  const parts = plural(traffic.dispatches.length, "dispatch").replace(/dispatchs$/, "dispatches");
  return `bytes requested, ${exact}, ${traffic.stage}, emulated; ${parts} on ${on}`;
}
