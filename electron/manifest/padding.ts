/** Threadgroup padding in what the checker says: what is lent is used, so the overstep is named, and is no error. */
import type { CheckReport } from "../../native/check.ts";

/**
 * The oversteps behind dynamic threadgroup arrays, from a run that lent nothing: within what the manifest lends each is a
 * warning that says so. `padding` is by label of the dispatch.
 */
export function oversteps(
  reports: readonly CheckReport[],
  padding: readonly { readonly dispatch: string; readonly bytes: number }[],
): readonly CheckReport[] {
  return reports.flatMap((report) => {
    const { kind, addressSpace, buffer, offset, size } = report;
    const lent = padding.find(({ dispatch }) => dispatch === report.dispatch)?.bytes;
    const dynamic = addressSpace === "threadgroup" && buffer !== null && buffer.index !== null;
    if (kind !== "out_of_bounds" || !dynamic || offset === null || lent === undefined) return [];
    if (offset < 0 || offset + size > buffer.bytes + lent) return [];
    const bytes = lent.toLocaleString("en-US");
    const message = `${report.message.replace(/\.$/, "")}. The manifest's threadgroupPadding lends it ${bytes} bytes.`;
    return [{ ...report, severity: "warning" as const, message }];
  });
}
