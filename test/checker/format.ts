/**
 * Reads the corpus: `.metal` files whose comments say how each kernel is run and what the checker must report of it.
 *
 * A header stands before its code and begins with `// case: NAME`; headers that follow each other share the code behind
 * them. The other lines of a header are `// KEY: VALUE`, in the grammar of `docs/checker-corpus.md`; a sentence may go
 * on in lines that begin with `//   `. A line of code that ends in `// A` (one capital letter) carries a marker, to which
 * expectations refer. Whatever does not fit is an error: a corpus that is misread proves nothing.
 */
import { CHECK_KINDS, type CheckKind, type CheckReport } from "../../native/check.ts";
import type { CheckOptions, CompileOptions, Flavour, Size3 } from "../../native/device.ts";

const ELEMENT_BYTES = { float: 4, int: 4, uint: 4, half: 2, short: 2, ushort: 2, uchar: 1, ulong: 8 } as const;
const ACCESSES = ["read", "write", "atomic", "barrier", "collective", "arithmetic", "exit", "none"] as const;
const SEVERITIES = ["error", "warning", "info"] as const;
const FLAVOURS = ["check", "check+lockstep"] as const;

export type ElementType = keyof typeof ELEMENT_BYTES;

export interface CorpusBuffer {
  readonly name: string;
  readonly type: ElementType;
  readonly elements: number;
  /** Repeated until `written` elements are filled; empty where the host writes nothing. `ramp` is 1, 2, 3, ... */
  readonly values: readonly number[] | "ramp";
  /** Elements that the host writes, from the start. */
  readonly written: number;
  readonly isOutput: boolean;
}

export interface CorpusRun {
  readonly kernel: string;
  readonly threads: Size3;
  readonly groups: Size3;
  /** Dynamic threadgroup memory in bytes, by index. */
  readonly memory: readonly number[];
  readonly padding: readonly number[];
}

export interface ExpectedSide {
  readonly access: CheckReport["first"]["access"];
  /** Null where the report has no position. */
  readonly line: number | null;
}

/** A report that must, or may, come. What is left out is not looked at. */
export interface ExpectedReport {
  readonly severity: CheckReport["severity"];
  readonly kind: CheckKind;
  /** In either order: which side of a race came first is a matter of the execution. */
  readonly sides: readonly ExpectedSide[];
  /** Name of the buffer or array; null where the report must have none. */
  readonly buffer: string | null;
  readonly offset?: number;
  readonly size?: number;
  readonly count?: number;
  /** As written, for messages. */
  readonly text: string;
}

export interface CorpusCase {
  readonly name: string;
  /** Of the header, 1-based. */
  readonly line: number;
  readonly why: string;
  /** Public reports that show the same kind of fault. */
  readonly from: readonly string[];
  readonly runs: readonly CorpusRun[];
  readonly buffers: readonly CorpusBuffer[];
  readonly flavours: readonly Flavour[];
  readonly math: NonNullable<CompileOptions["mathMode"]>;
  readonly order: NonNullable<CheckOptions["order"]>;
  readonly must: readonly ExpectedReport[];
  readonly may: readonly ExpectedReport[];
  /** What the checker cannot see although it is wrong; such a case stays in the corpus to say so. */
  readonly unseen: string;
}

export interface CorpusFile {
  readonly path: string;
  readonly text: string;
  readonly cases: readonly CorpusCase[];
}

export class CorpusError extends Error {
  override readonly name = "CorpusError";
  constructor(path: string, line: number, message: string) {
    super(`${path}:${line}: ${message}`);
  }
}

type HeaderLine = { readonly key: string; readonly value: string; readonly line: number };

interface Section {
  readonly headers: HeaderLine[][];
  readonly markers: Map<string, number>;
}

const KEYS = ["case", "why", "from", "run", "buffer", "flavours", "math", "order", "must", "may", "silent", "unseen"];
const CONTINUED: readonly string[] = ["why", "unseen"];

export function readCorpusFile(path: string, text: string): CorpusFile {
  const cases = sectionsOf(path, text).flatMap((section) => {
    const used = new Set<string>();
    const read = section.headers.map((header) => readCase(path, header, section.markers, used));
    for (const [marker, line] of section.markers) {
      if (!used.has(marker)) throw new CorpusError(path, line, `no expectation refers to marker ${marker}`);
    }
    return read;
  });
  return { path, text, cases };
}

function sectionsOf(path: string, text: string): readonly Section[] {
  const sections: Section[] = [];
  let header: HeaderLine[] | undefined;
  let section: Section | undefined;
  for (const [index, raw] of text.split("\n").entries()) {
    const line = index + 1;
    const [, key, value = ""] = /^\/\/ ([a-z]+):(?: (.*))?$/.exec(raw) ?? [];
    if (key === "case") {
      if (section === undefined || header === undefined) {
        section = { headers: [], markers: new Map() };
        sections.push(section);
      }
      header = [{ key, value, line }];
      section.headers.push(header);
      continue;
    }
    if (header !== undefined && raw.startsWith("//")) {
      const last = header.at(-1)!;
      if (key !== undefined && KEYS.includes(key)) {
        header.push({ key, value, line });
      } else if (raw.startsWith("//   ") && CONTINUED.includes(last.key)) {
        header[header.length - 1] = { ...last, value: `${last.value} ${raw.slice(5)}` };
      } else {
        throw new CorpusError(
          path,
          line,
          `${JSON.stringify(raw)} is no line of a header: use one of ${KEYS.join(", ")}`,
        );
      }
      continue;
    }
    if (raw.trim() === "") continue;
    // Code ends the headers; those that come next begin another section.
    header = undefined;
    const [, marker] = /\/\/ ([A-Z])$/.exec(raw) ?? [];
    if (marker === undefined) continue;
    if (section === undefined) throw new CorpusError(path, line, `marker ${marker} stands before the first case`);
    if (section.markers.has(marker)) throw new CorpusError(path, line, `marker ${marker} is there twice`);
    section.markers.set(marker, line);
  }
  if (header !== undefined) throw new CorpusError(path, header[0]!.line, "no code follows this header");
  return sections;
}

function readCase(
  path: string,
  header: readonly HeaderLine[],
  markers: ReadonlyMap<string, number>,
  used: Set<string>,
): CorpusCase {
  const first = header[0]!;
  const all = (key: string): readonly HeaderLine[] => header.filter((line) => line.key === key);
  const one = (key: string): HeaderLine | undefined => {
    const [found, again] = all(key);
    if (again) throw new CorpusError(path, again.line, `case ${first.value} has two lines ${key}`);
    return found;
  };
  const chosen = <T extends string>(key: string, among: readonly T[], otherwise: T): T => {
    const line = one(key);
    return line === undefined ? otherwise : oneOf(path, line.line, among, line.value);
  };
  if (!/^[a-z][a-z0-9_]*$/.test(first.value)) throw new CorpusError(path, first.line, `${first.value} is no name`);
  const why = one("why")?.value ?? "";
  if (why === "") throw new CorpusError(path, first.line, `case ${first.value} does not say why`);
  const expected = (key: string): readonly ExpectedReport[] =>
    all(key).map((line) => readExpectation(path, line, markers, used));
  const must = expected("must");
  const silent = one("silent");
  if ((silent === undefined) === (must.length === 0)) {
    throw new CorpusError(path, first.line, `case ${first.value} needs either lines must or one line silent`);
  }
  if (silent !== undefined && silent.value !== "") throw new CorpusError(path, silent.line, "silent has no value");
  const runs = all("run").map((line) => readRun(path, line));
  const buffers = all("buffer").map((line) => readBuffer(path, line));
  if (runs.length === 0) throw new CorpusError(path, first.line, `case ${first.value} runs nothing`);
  const flavours = one("flavours");
  return {
    name: first.value,
    line: first.line,
    why,
    from: (one("from")?.value ?? "").split(", ").filter((name) => name !== ""),
    runs,
    buffers,
    flavours: flavours?.value.split(", ").map((name) => oneOf(path, flavours.line, FLAVOURS, name)) ?? ["check"],
    math: chosen("math", ["safe", "relaxed", "fast"], "safe"),
    order: chosen("order", ["serial", "concurrent"], "serial"),
    must,
    may: expected("may"),
    unseen: one("unseen")?.value ?? "",
  };
}

function oneOf<T extends string>(path: string, line: number, among: readonly T[], value: string): T {
  const found = among.find((name) => name === value);
  if (found === undefined) throw new CorpusError(path, line, `${value} is none of ${among.join(", ")}`);
  return found;
}

function numbers(path: string, line: number, text: string): readonly number[] {
  return text.split(",").map((part) => {
    if (!/^-?[0-9]+(\.[0-9]+)?(e[0-9]+)?$|^-?inf$/.test(part)) {
      throw new CorpusError(path, line, `${part} is no number`);
    }
    return part.endsWith("inf") ? Number(part.replace("inf", "Infinity")) : Number(part);
  });
}

/** `KERNEL threads 32x2 groups 4 memory 256,64 padding 16,0`; all but the kernel and its threads may be left out. */
function readRun(path: string, { value, line }: HeaderLine): CorpusRun {
  const [, kernel, threads, groups, memory, padding] =
    /^(\w+) threads ([\dx]+)(?: groups ([\dx]+))?(?: memory ([\d,]+))?(?: padding ([\d,]+))?$/.exec(value) ?? [];
  if (kernel === undefined || threads === undefined) throw new CorpusError(path, line, `${value} is no run`);
  const size = (text: string | undefined): Size3 => {
    const [x = 1, y = 1, z = 1] = (text ?? "1").split("x").map(Number);
    return [x, y, z];
  };
  const list = (text: string | undefined): readonly number[] => (text === undefined ? [] : numbers(path, line, text));
  return { kernel, threads: size(threads), groups: size(groups), memory: list(memory), padding: list(padding) };
}

/** `NAME TYPE COUNT FILL [first N]`, where FILL is `output`, `unwritten`, `ramp` or numbers that repeat. */
function readBuffer(path: string, { value, line }: HeaderLine): CorpusBuffer {
  const [, name, typeName, count, fill, first] = /^(\w+) (\w+) (\d+) ([\w.,-]+)(?: first (\d+))?$/.exec(value) ?? [];
  if (name === undefined || typeName === undefined || fill === undefined) {
    throw new CorpusError(path, line, `${value} is no buffer`);
  }
  const types = Object.keys(ELEMENT_BYTES) as readonly ElementType[];
  const type = oneOf(path, line, types, typeName);
  const elements = Number(count);
  const isEmpty = fill === "output" || fill === "unwritten";
  return {
    name,
    type,
    elements,
    values: isEmpty ? [] : fill === "ramp" ? "ramp" : numbers(path, line, fill),
    written: isEmpty ? 0 : first === undefined ? elements : Number(first),
    isOutput: fill === "output",
  };
}

/** `SEVERITY KIND SIDE[, SIDE] [of BUFFER [at OFFSET] [size BYTES]] [times COUNT]`, SIDE a marker or `-` and an access. */
function readExpectation(
  path: string,
  { value, line }: HeaderLine,
  markers: ReadonlyMap<string, number>,
  used: Set<string>,
): ExpectedReport {
  const [, severity, kind, sides, buffer, offset, size, count] =
    /^(\w+) (\w+) ([A-Z-] \w+(?:, [A-Z-] \w+)?)(?: of (\w+)(?: at (-?\d+))?(?: size (\d+))?)?(?: times (\d+))?$/.exec(
      value,
    ) ?? [];
  if (severity === undefined || kind === undefined || sides === undefined) {
    throw new CorpusError(path, line, `${value} is no expectation`);
  }
  return {
    severity: oneOf(path, line, SEVERITIES, severity),
    kind: oneOf(path, line, CHECK_KINDS, kind),
    sides: sides.split(", ").map((side) => {
      const [marker = "", access = ""] = side.split(" ");
      if (marker !== "-" && !markers.has(marker)) throw new CorpusError(path, line, `there is no marker ${marker}`);
      used.add(marker);
      return { access: oneOf(path, line, ACCESSES, access), line: markers.get(marker) ?? null };
    }),
    buffer: buffer ?? null,
    ...(offset === undefined ? {} : { offset: Number(offset) }),
    ...(size === undefined ? {} : { size: Number(size) }),
    ...(count === undefined ? {} : { count: Number(count) }),
    text: value,
  };
}

export function bufferBytes({ type, elements }: Pick<CorpusBuffer, "type" | "elements">): number {
  return ELEMENT_BYTES[type] * elements;
}
