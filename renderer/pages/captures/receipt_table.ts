/** The table of receipts against the contract, as texts. Pure. */
import {
  type ContractCheck,
  REQUIREMENT_TITLES,
  REQUIREMENTS,
  type Requirement,
  type RequirementId,
} from "../../../kernels/contract.ts";
import { KNOWN_BY, type KnownBy } from "../../parts/known_by.ts";
import { countText } from "../../parts/text.ts";

export interface ReceiptCell {
  readonly text: string;
  /** Null: nobody can tell. */
  readonly held: boolean | null;
  readonly title: string;
}

export interface ReceiptRow {
  readonly id: RequirementId | "registers" | "language" | "mathMode";
  readonly title: string;
  readonly contract: string;
  /** One for each dispatch; a single one where the row is about the whole route. */
  readonly cells: readonly ReceiptCell[];
  readonly by: string;
}

/** `= 32`, `≥ 256; 1,024; 256`: the relation once, the numbers by dispatch where they differ. */
export function contractText(requirements: readonly Requirement[]): string {
  const [first] = requirements;
  if (first === undefined) return "none";
  const numbers = requirements.map(({ required }) => countText(required));
  const relations = new Set(requirements.map(({ relation }) => relation));
  if (relations.size > 1) return requirements.map((each) => `${each.relation} ${countText(each.required)}`).join("; ");
  return `${first.relation} ${new Set(numbers).size === 1 ? numbers[0] : numbers.join("; ")}`;
}

/** `assumed, plan`: words of the parts of a figure. */
export function byText(by: string): string {
  return by
    .split(", ")
    .map((word) => (word in KNOWN_BY ? KNOWN_BY[word as KnownBy] : word))
    .join(", ");
}

function cellOf(requirement: Requirement): ReceiptCell {
  const { actual, held, relation, required, reason, source } = requirement;
  const both = `${actual === null ? "not known" : countText(actual)}, required ${relation} ${countText(required)}`;
  return {
    text: actual === null ? "not known" : countText(actual),
    held,
    title: `${both}: ${reason}. From: ${source}`,
  };
}

/** Rows in the order of the requirements; what concerns the whole route has one cell. */
export function receiptRows(check: ContractCheck): readonly ReceiptRow[] {
  return REQUIREMENTS.map((id): ReceiptRow => {
    const all = check.dispatches.flatMap(({ requirements }) => requirements.filter((each) => each.id === id));
    const shown = id === "scratch_bytes" ? all.slice(0, 1) : all;
    return {
      id,
      title: REQUIREMENT_TITLES[id],
      contract: contractText(shown),
      cells: shown.map(cellOf),
      by: [...new Set(shown.map(({ by }) => byText(by)))].join("; "),
    };
  });
}

/** What a receipt has beyond what the contract asks for. */
export interface CompileFacts {
  readonly registers?: Stated<{ readonly least: number; readonly most: number }> | undefined;
  readonly language?: Stated<string> | undefined;
  readonly mathMode?: Stated<string> | undefined;
}

interface Stated<T> {
  readonly value: T;
  readonly by: KnownBy;
  readonly source: string;
}

/** A bracket of registers: of the receipt, or told by the launchable threads. */
export interface Bracket {
  readonly low: number;
  readonly high: number;
  readonly source: string;
  readonly by: KnownBy;
}

/** The receipt's own bracket; else what the launchable threads tell of a pipeline, which is inferred. */
export function bracketFrom(
  facts: CompileFacts | undefined,
  told: { readonly low: number; readonly high: number; readonly source: string } | undefined,
): Bracket | undefined {
  const own = facts?.registers;
  if (own !== undefined) return { low: own.value.least, high: own.value.most, by: own.by, source: own.source };
  return told === undefined ? undefined : { ...told, by: "inferred" };
}

/** What the registers of each pipeline are known to be: a bracket, or not known. */
export function registersRow(brackets: readonly (Bracket | undefined)[]): ReceiptRow {
  const none: ReceiptCell = {
    text: "not known",
    held: null,
    title: "No API states registers; on Apple7 and Apple8 the launchable threads of a real pipeline tell a bracket",
  };
  const known = [...new Set(brackets.flatMap((bracket) => (bracket === undefined ? [] : [KNOWN_BY[bracket.by]])))];
  return {
    id: "registers",
    title: "registers of a thread",
    contract: "none",
    cells: brackets.map((bracket) =>
      bracket === undefined
        ? none
        : {
            text: bracket.low <= 1 ? `up to ${bracket.high}` : `${bracket.low} to ${bracket.high}`,
            held: null,
            title: `${KNOWN_BY[bracket.by]}: ${bracket.source}`,
          },
    ),
    by: known.length > 0 ? known.join("; ") : "not known",
  };
}

/** With what each pipeline was compiled, as its receipt has it; no row where no receipt says it, as on emulated devices. */
export function compileRows(facts: readonly (CompileFacts | undefined)[]): readonly ReceiptRow[] {
  const titles = { language: "language version", mathMode: "math mode" } as const;
  return (["language", "mathMode"] as const).flatMap((id): readonly ReceiptRow[] => {
    const stated = facts.map((each) => each?.[id]);
    const said = stated.flatMap((each) => (each === undefined ? [] : [each]));
    if (said.length === 0) return [];
    return [
      {
        id,
        title: titles[id],
        contract: "none",
        cells: stated.map((each) =>
          each === undefined
            ? { text: "not known", held: null, title: "no receipt" }
            : { text: each.value, held: null, title: `${KNOWN_BY[each.by]}: ${each.source}` },
        ),
        by: [...new Set(said.map(({ by }) => KNOWN_BY[by]))].join("; "),
      },
    ];
  });
}

/** Lines of a CSV for rows that no contract asks for. */
export function moreLines(
  rows: readonly ReceiptRow[],
  dispatches: readonly { readonly stage: string; readonly kernel: string }[],
): readonly (readonly string[])[] {
  return rows.flatMap(({ id, cells, by }) =>
    cells.map((cell, index) => {
      const { stage = "", kernel = "" } = dispatches[index] ?? {};
      return [stage, kernel, id, "none", "none", cell.text, "not asked", by, cell.title];
    }),
  );
}

export const RECEIPT_HEAD = [
  "dispatch",
  "kernel",
  "requirement",
  "relation",
  "required",
  "actual",
  "held",
  "known by",
  "source",
] as const;

/** One line for each requirement of each dispatch. */
export function receiptLines({ dispatches }: ContractCheck): readonly (readonly (string | number)[])[] {
  return dispatches.flatMap(({ stage, kernel, requirements }) =>
    requirements.map(({ id, relation, required, actual, held, by, source }) => [
      stage,
      kernel,
      id,
      relation,
      required,
      actual ?? "not known",
      held === null ? "not known" : held ? "held" : "failed",
      by,
      source,
    ]),
  );
}
