/** Tokens of a kernel source for the lint: comments dropped, directives and attributes marked. */

export interface LintToken {
  /** `macro` is a name that a directive defines or asks for: the host or the source sets it. */
  readonly kind: "identifier" | "number" | "punctuator" | "directive" | "header" | "macro";
  readonly text: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  /** Where an identifier stands: in code, within `[[ ]]`, or in the words of an #error. */
  readonly context: "code" | "attribute" | "message";
}

const PATTERN =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<directive>#[ \t]*[a-z]+)|(?<string>"[^"\n]*")|(?<identifier>[A-Za-z_]\w*)|(?<number>\.?\d[\w.]*)|(?<punctuator>\[\[|\]\]|::|->|[^\s])/g;

/** Tokens in order. Strings are dropped: MSL has none outside directives. */
export function lintTokens(text: string): readonly LintToken[] {
  const tokens: LintToken[] = [];
  const lineStarts = starts(text);
  let line = 0;
  let directive = { name: "", line: -1 };
  let attribute = false;
  for (const match of text.matchAll(PATTERN)) {
    const groups = match.groups ?? {};
    while (line + 1 < lineStarts.length && lineStarts[line + 1]! <= match.index) line++;
    if (groups.comment !== undefined || groups.string !== undefined) continue;
    const inDirective = directive.line === line;
    const place = { line: line + 1, column: match.index - lineStarts[line]! + 1 };
    const push = (kind: LintToken["kind"], token: string, context: LintToken["context"] = "code"): void => {
      tokens.push({ kind, text: token, ...place, context });
    };
    if (groups.directive !== undefined) {
      directive = { name: groups.directive.replace(/^#[ \t]*/, ""), line };
      push("directive", directive.name);
    } else if (inDirective && directive.name === "error") {
      push("identifier", match[0], "message");
    } else if (inDirective && directive.name === "include") {
      if (groups.identifier !== undefined) push("header", match[0]);
    } else if (groups.identifier !== undefined) {
      // `defined` itself is a keyword; what it asks for, and what #define and #ifndef name, are macros.
      const names = inDirective && match[0] !== "defined";
      push(names ? "macro" : "identifier", match[0], attribute ? "attribute" : "code");
    } else if (groups.number !== undefined) {
      push("number", match[0]);
    } else {
      if (match[0] === "[[") attribute = true;
      // Outside an attribute, two brackets close two subscripts.
      if (match[0] === "]]" && !attribute) push("punctuator", "]");
      push("punctuator", attribute || match[0] !== "]]" ? match[0] : "]");
      if (match[0] === "]]") attribute = false;
    }
  }
  return tokens;
}

/** Offsets at which lines begin. */
function starts(text: string): readonly number[] {
  const offsets = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) offsets.push(at + 1);
  return offsets;
}
