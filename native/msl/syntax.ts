/** Navigation in a token list: brackets, template argument lists, attributes. */
import type { Diagnostic } from "../device.ts";
import type { Unit } from "./preprocess.ts";
import type { Token } from "./tokens.ts";

const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** An attribute of the form `name` or `name(arguments)` inside `[[ ]]`. */
export interface Attribute {
  readonly name: string;
  /** Token range of the name with its arguments, `end` exclusive. */
  readonly start: number;
  readonly end: number;
  /** Token range between the parentheses; empty if there are none. */
  readonly argumentsStart: number;
  readonly argumentsEnd: number;
}

export class Syntax {
  readonly unit: Unit;
  readonly tokens: readonly Token[];
  /** For each opening bracket the index of its partner, for each closing one too; -1 elsewhere and if unbalanced. */
  readonly partner: Int32Array;
  /** Brackets without a partner. */
  readonly unbalanced: readonly Diagnostic[];

  constructor(unit: Unit) {
    this.unit = unit;
    this.tokens = unit.tokens;
    this.partner = new Int32Array(unit.tokens.length).fill(-1);
    this.unbalanced = this.#pairBrackets();
  }

  text(index: number): string {
    return this.tokens[index]?.text ?? "";
  }

  isIdentifier(index: number): boolean {
    return this.tokens[index]?.kind === "identifier";
  }

  /** Partner of the bracket at `index`, or the end of the tokens if it has none. */
  close(index: number): number {
    const partner = this.partner[index] ?? -1;
    return partner >= 0 ? partner : this.tokens.length;
  }

  /** Index of the `>` that closes the `<` at `index`, or -1 if it is a comparison. */
  closeAngle(index: number): number {
    let depth = 0;
    for (let i = index; i < this.tokens.length; i += 1) {
      const text = this.text(i);
      if (text in CLOSERS && this.tokens[i]?.kind === "punctuator") {
        i = this.close(i);
      } else if (text === "<") depth += 1;
      else if (text === ">") {
        depth -= 1;
        if (depth === 0) return i;
      } else if (text === ";" || text === "}" || text === ")" || text === "]") return -1;
    }
    return -1;
  }

  /** True if an attribute list `[[ ... ]]` starts at `index`. */
  startsAttributes(index: number): boolean {
    return (
      this.text(index) === "[" &&
      this.text(index + 1) === "[" &&
      (this.partner[index] ?? -1) === (this.partner[index + 1] ?? -1) + 1
    );
  }

  /** True if an attribute list ends at `index`, its last `]`. */
  endsAttributes(index: number): boolean {
    const open = this.text(index) === "]" ? (this.partner[index] ?? -1) : -1;
    return open >= 0 && this.startsAttributes(open);
  }

  /** The attributes of the list that starts at `index`. */
  attributes(index: number): Attribute[] {
    const found: Attribute[] = [];
    const end = this.close(index + 1);
    for (let i = index + 2; i < end; i += 1) {
      if (!this.isIdentifier(i)) continue;
      let last = i;
      while (this.text(last + 1) === "::" && this.isIdentifier(last + 2)) last += 2;
      const open = this.text(last + 1) === "(" ? last + 1 : -1;
      const stop = open >= 0 ? this.close(open) + 1 : last + 1;
      found.push({
        name: this.words(i, last + 1),
        start: i,
        end: stop,
        argumentsStart: open >= 0 ? open + 1 : stop,
        argumentsEnd: open >= 0 ? stop - 1 : stop,
      });
      i = stop - 1;
    }
    return found;
  }

  /** Splits the range at commas that stand outside all brackets and template argument lists. */
  splitAtCommas(start: number, end: number): [number, number][] {
    const parts: [number, number][] = [];
    let from = start;
    for (let i = start; i < end; i += 1) {
      const text = this.text(i);
      if (text === "(" || text === "[" || text === "{") i = Math.min(this.close(i), end);
      else if (text === "<") {
        const angle = this.closeAngle(i);
        if (angle > 0 && angle < end) i = angle;
      } else if (text === ",") {
        parts.push([from, i]);
        from = i + 1;
      }
    }
    if (from < end) parts.push([from, end]);
    return parts;
  }

  /** The source text of a range, with single spaces where the author had white space or where two words meet. */
  words(start: number, end: number, substitute: ReadonlyMap<string, string> = new Map()): string {
    let text = "";
    for (let i = start; i < end; i += 1) {
      const token = this.tokens[i];
      if (!token) break;
      const word = (token.kind === "identifier" ? substitute.get(token.text) : undefined) ?? token.text;
      const glue = /\w$/.test(text) && /^\w/.test(word);
      text += text !== "" && (token.spaced || glue) ? ` ${word}` : word;
    }
    return text;
  }

  /** A message at the position of the token at `index`. */
  diagnostic(index: number, message: string, severity: Diagnostic["severity"] = "error"): Diagnostic {
    const token = this.tokens[Math.min(index, this.tokens.length - 1)];
    return {
      severity,
      path: this.unit.files[token?.file ?? 0] ?? "",
      line: token?.line ?? 1,
      column: token?.column ?? 1,
      message,
    };
  }

  #pairBrackets(): Diagnostic[] {
    const open: number[] = [];
    for (const [index, token] of this.tokens.entries()) {
      if (token.kind !== "punctuator") continue;
      if (token.text in CLOSERS) open.push(index);
      else if (token.text === ")" || token.text === "]" || token.text === "}") {
        const start = open.pop();
        const wanted = start === undefined ? undefined : CLOSERS[this.text(start)];
        if (start === undefined) return [this.diagnostic(index, `extraneous closing '${token.text}'`)];
        if (wanted !== token.text) {
          return [
            this.diagnostic(index, `expected '${wanted}', found '${token.text}'`),
            this.diagnostic(start, `to match this '${this.text(start)}'`, "note"),
          ];
        }
        this.partner[start] = index;
        this.partner[index] = start;
      }
    }
    const start = open.pop();
    if (start === undefined) return [];
    return [this.diagnostic(start, `'${this.text(start)}' is never closed by a '${CLOSERS[this.text(start)]}'`)];
  }
}
