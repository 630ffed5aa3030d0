/** Recorded times of two routes as dots in time order. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";
import type { EdgeSet } from "../../charts/plot.ts";

export type Timings = CallOutput<"captures.timings">;
type Sample = Timings["samples"][number];

export const UNITS = ["ms", "µs", "ns"] as const;
export type Unit = (typeof UNITS)[number];

/** Nanoseconds of a unit. */
const SIZES: Readonly<Record<Unit, number>> = { ms: 1e6, µs: 1e3, ns: 1 };

export function inUnit(ns: number, unit: Unit): number {
  return ns / SIZES[unit];
}

/** Three significant digits; whole numbers above a thousand keep their commas. */
export function timeNumber(value: number): string {
  return value >= 1000
    ? Math.round(value).toLocaleString("en-US")
    : value === 0
      ? "0"
      : Number(value.toPrecision(3)).toString();
}

/** The same for an axis, whose gutter holds seven characters: `1.5e6`. */
export function tickNumber(value: number): string {
  return value >= 1e6 ? `${Number((value / 1e6).toPrecision(3))}e6` : timeNumber(value);
}

/** All dispatches of a route together, or one of them. */
export const WHOLE = "all dispatches";

/** What a time was read from; `mixed` where the dispatches of one result differ, null on an emulated device. */
export type Clock = NonNullable<Sample["dispatches"][number]["clock"]> | "mixed" | null;

const CLOCK_WORDS: Readonly<Record<Exclude<Clock, null>, string>> = {
  stage_boundary_counters: "stage-boundary counters",
  command_buffer: "command buffer",
  mixed: "counters and command buffer",
};

/** The clock of a point in words. */
export function clockWord(clock: Clock): string {
  return clock === null ? "emulation" : CLOCK_WORDS[clock];
}

/** What the times of the points were read from, in words: one clock, or a warning that there are several. */
export function clockNote(points: readonly TimingPoint[]): string {
  const clocks = [...new Set(points.map(({ clock }) => clockWord(clock)))];
  return clocks.length > 1 ? `different clocks, not to be compared: ${clocks.join("; ")}` : (clocks[0] ?? "");
}

export interface TimingPoint {
  readonly clock: Clock;
  readonly series: "a" | "b";
  readonly run: string;
  readonly startedAt: string;
  readonly route: string;
  readonly ns: number;
  /** The result did not pass: shown hollow, not counted. */
  readonly discarded: boolean;
}

/** Names of the dispatches of a route, in their order. */
export function partsOf({ samples }: Timings, routes: readonly (string | null)[]): readonly string[] {
  const names = samples
    .filter(({ route }) => routes.includes(route))
    .flatMap(({ dispatches }) => dispatches.map(({ label }) => label));
  return [...new Set(names)];
}

function timeOf({ dispatches }: Sample, part: string): number | undefined {
  if (part !== WHOLE) return dispatches.find(({ label }) => label === part)?.ns;
  return dispatches.reduce((sum, { ns }) => sum + ns, 0);
}

function clockOf({ dispatches }: Sample, part: string): Clock {
  const own = part === WHOLE ? dispatches : dispatches.filter(({ label }) => label === part);
  const clocks = new Set(own.map(({ clock }) => clock ?? null));
  return clocks.size > 1 ? "mixed" : ([...clocks][0] ?? null);
}

/** The samples of both routes, oldest first; those that have not the part are left out. */
export function pointsOf({ samples }: Timings, a: string, b: string | null, part: string): readonly TimingPoint[] {
  return samples.flatMap((sample): readonly TimingPoint[] => {
    const { run, startedAt, route, passed } = sample;
    const series = route === a ? "a" : route === b ? "b" : undefined;
    const ns = timeOf(sample, part);
    const clock = clockOf(sample, part);
    return series === undefined || ns === undefined
      ? []
      : [{ series, run, startedAt, route, ns, clock, discarded: !passed }];
  });
}

/** Where one run ends and the next begins. */
export function runEdges(points: readonly TimingPoint[]): EdgeSet {
  const edges = points.flatMap(({ run }, index) => (index > 0 && points[index - 1]!.run !== run ? [index] : []));
  return { kind: "group", title: "run", edges: Int32Array.from(edges), labels: [] };
}

/** When the run of a point began: the time of day where all began on one day, else month and day before it. */
export function clockText(points: readonly TimingPoint[], index: number): string {
  const point = points[index];
  if (point === undefined) return "";
  const two = (value: number): string => String(value).padStart(2, "0");
  const time = new Date(point.startedAt);
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":");
  const days = new Set(points.map(({ startedAt }) => new Date(startedAt).toDateString()));
  return days.size === 1 ? clock : `${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`;
}

/** One value for each point, NaN where the point is of another series or look. */
export function columnOf(
  points: readonly TimingPoint[],
  series: TimingPoint["series"],
  discarded: boolean,
  unit: Unit,
): Float64Array {
  return Float64Array.from(points, (point) =>
    point.series === series && point.discarded === discarded ? inUnit(point.ns, unit) : Number.NaN,
  );
}

export interface TimingSummary {
  readonly count: number;
  readonly discarded: number;
  /** Nanoseconds, of what counts. */
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Plain figures of a series; undefined without a sample that counts. */
export function summaryOf(points: readonly TimingPoint[], series: TimingPoint["series"]): TimingSummary | undefined {
  const own = points.filter((point) => point.series === series);
  const times = own.filter(({ discarded }) => !discarded).map(({ ns }) => ns);
  if (times.length === 0) return undefined;
  times.sort((x, y) => x - y);
  const middle = (times.length - 1) / 2;
  const median = (times[Math.floor(middle)]! + times[Math.ceil(middle)]!) / 2;
  return { count: times.length, discarded: own.length - times.length, median, least: times[0]!, most: times.at(-1)! };
}
