/** `lockstep offline`: registers and spilled bytes of a route's kernels for any Apple GPU, from Apple's offline compiler. */
import type { CaseShape, RoutePlan } from "../../kernels/route.ts";
import { findRoute, routesFor } from "../../kernels/routes.ts";
import { chipTable } from "../../native/chips.ts";
import { stableJson } from "../evidence/json.ts";
import type { Places } from "../host/root.ts";
import { UNDOCUMENTED } from "../offline/gpu_binary.ts";
import { ARCHITECTURE, type OfflineAnswer, offlineReceipts } from "../offline/receipts.ts";
import { LIVE_FLOATS } from "../offline/self_test.ts";
import { selectCases } from "../runs/plan.ts";
import { UsageError, unknownName } from "../runs/usage.ts";
import { namedCases } from "./cases.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export interface OfflineOptions {
  readonly route?: string;
  readonly case?: string;
  readonly suite?: string;
  readonly arch?: string;
  readonly json?: boolean;
}

/** A decode and a prefill case of the production shapes. */
const DEFAULT_CASE = "L8192.spread";

/** Architecture strings of the chip table that were reported by a device, in its order. */
export function knownArchitectures(): readonly string[] {
  const reported = chipTable().chips.filter((chip) => chip.architecture_confidence.startsWith("reported"));
  return [...new Set(reported.flatMap((chip) => chip.architecture_string ?? []))];
}

function architecturesOf(given: string | undefined): readonly string[] {
  if (given === undefined) return knownArchitectures();
  const words = given.split(",").map((word) => word.trim());
  const wrong = words.find((word) => !ARCHITECTURE.test(word));
  if (wrong !== undefined) throw unknownName("architecture", wrong, knownArchitectures());
  return [...new Set(words)];
}

/** Exit 0 where every kernel has figures, 1 where one has none, 2 where the tools are not there. */
export async function offline(options: OfflineOptions, places: Places, output: Output): Promise<number> {
  const architectures = architecturesOf(options.arch);
  const [chosen] = selectCases(namedCases({ suite: options.suite ?? "full" }, places), {
    case: options.case ?? DEFAULT_CASE,
  });
  if (chosen === undefined)
    throw new UsageError(`No case is called "${options.case ?? DEFAULT_CASE}": lockstep cases lists them.`);
  const plan = planOf(options.route, chosen.shape);
  const answer = await offlineReceipts({
    plan,
    kernels: places.kernels,
    architectures,
    onProgress: (words) => output.progress(words),
  });
  output.clear();
  if (options.json)
    output.line(stableJson({ case: chosen.key, route: plan.route, architectures, ...answer }).trimEnd());
  else for (const line of answerLines(answer, plan.route, chosen.key)) output.line(line);
  if (!answer.available) return EXIT.couldNotRun;
  return answer.receipts.every((receipt) => receipt.figures !== null) ? EXIT.passed : EXIT.failed;
}

/** The plan of the route, or of the first that is built and takes the shape. Throws UsageError. */
function planOf(route: string | undefined, shape: CaseShape): RoutePlan {
  try {
    if (route !== undefined) return findRoute(shape.operator, route).plan(shape);
    const built = routesFor(shape.operator).filter((entry) => entry.status === "built");
    return built[0]!.plan(shape);
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
}

export function answerLines(answer: OfflineAnswer, route: string, caseKey: string): readonly string[] {
  if (!answer.available) return [`Not available: ${answer.reason}`, `mend: ${answer.mend}`];
  const rows = answer.receipts.map(({ architecture, kernel, stages, figures }) => [
    architecture,
    kernel,
    stages.join(", "),
    figures === null ? "none" : String(figures.registers),
    figures === null ? "none" : figures.spillBytes.toLocaleString("en-US"),
    figures === null ? "none" : figures.codeBytes.toLocaleString("en-US"),
  ]);
  const head = ["architecture", "kernel", "stages", "registers", "spill, B", "code, B"];
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => (index > 2 ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!)))
      .join("  ")
      .trimEnd();
  const reasons = new Map<string, string[]>();
  for (const { reason, architecture, kernel } of answer.receipts) {
    if (reason !== null) reasons.set(reason, [...(reasons.get(reason) ?? []), `${architecture} ${kernel}`]);
  }
  return [
    `${route} on ${caseKey}; ${answer.compiler}, MSL ${answer.language}, safe math`,
    line(head),
    ...rows.map(line),
    ...[...reasons].map(([reason, whose]) => `none for ${whose.join(", ")}: ${reason}`),
    ...answer.selfTests.map(({ architecture, figures, reasons: why }) => {
      const read = figures.map((each) => (each === null ? "none" : `${each.registers}/${each.spillBytes}`)).join(", ");
      const state = why.length === 0 ? "held" : `did not hold: ${why.join("; ")}`;
      return `self-test ${architecture}: registers/spill ${read} for ${LIVE_FLOATS.join(", ")} floats; ${state}`;
    }),
    `known by: probe, ${UNDOCUMENTED}`,
  ];
}
