/**
 * Tokens of MSL text with their positions. `>` and `]` are always single tokens, so `a[b[i]]`, `[[attribute]]` and
 * `vec<vec<T>>` need no special case: whoever reads two of them in a row decides what they close.
 */

export type TokenKind = "identifier" | "number" | "string" | "character" | "punctuator" | "pragma";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Index into the list of files. */
  readonly file: number;
  /** 1-based line and column in that file. */
  readonly line: number;
  readonly column: number;
  /** True if white space, a comment or a line break stands before it. */
  readonly spaced: boolean;
}

/** One token of a text, before it is known which file a line belongs to. */
export interface RawToken {
  readonly kind: TokenKind | "directive";
  readonly text: string;
  /** 1-based physical line and column. */
  readonly line: number;
  readonly column: number;
  readonly spaced: boolean;
}

const PATTERN = new RegExp(
  [
    "(?<newline>\\n)",
    "(?<space>[ \\t\\r\\f\\v]+|\\\\\\r?\\n)",
    "(?<comment>//(?:\\\\\\n|[^\\n])*|/\\*[\\s\\S]*?(?:\\*/|$))",
    '(?<string>(?:u8|u|U|L)?"(?:\\\\[\\s\\S]|[^"\\\\\\n])*"?)',
    "(?<character>'(?:\\\\[\\s\\S]|[^'\\\\\\n])+'?)",
    "(?<identifier>[A-Za-z_$][\\w$]*)",
    "(?<number>\\.?\\d(?:[eEpP][+-]|'(?=\\w)|[\\w.])*)",
    "(?<punctuator>::|->|\\+\\+|--|<<=|<=|==|!=|&&|\\|\\||[-+*/%&|^]=|\\.\\.\\.|##|[\\s\\S])",
  ].join("|"),
  "y",
);

/**
 * Splits `text` into tokens. A line whose first token is `#` becomes one `directive` token without the line break
 * (continued lines are joined). Never throws: what no rule knows becomes a one-character punctuator.
 */
export function tokenise(text: string): RawToken[] {
  const tokens: RawToken[] = [];
  let line = 1;
  let lineStart = 0;
  let spaced = true;
  let lineHasToken = false;
  const pattern = new RegExp(PATTERN.source, PATTERN.flags);
  for (let offset = 0; offset < text.length; ) {
    pattern.lastIndex = offset;
    const groups = pattern.exec(text)?.groups;
    if (!groups) break;
    const end = pattern.lastIndex;
    if (groups.newline !== undefined) {
      line += 1;
      lineStart = end;
      spaced = true;
      lineHasToken = false;
    } else if (groups.space !== undefined || groups.comment !== undefined) {
      spaced = true;
      for (let i = text.indexOf("\n", offset); i >= 0 && i < end; i = text.indexOf("\n", i + 1)) {
        line += 1;
        lineStart = i + 1;
      }
    } else if (!lineHasToken && text[offset] === "#") {
      const stop = endOfDirective(text, offset);
      tokens.push({ kind: "directive", text: text.slice(offset, stop), line, column: offset - lineStart + 1, spaced });
      for (let i = text.indexOf("\n", offset); i >= 0 && i < stop; i = text.indexOf("\n", i + 1)) {
        line += 1;
        lineStart = i + 1;
      }
      spaced = true;
      offset = stop;
      continue;
    } else {
      tokens.push({
        kind: kindOf(groups),
        text: text.slice(offset, end),
        line,
        column: offset - lineStart + 1,
        spaced,
      });
      spaced = false;
      lineHasToken = true;
    }
    offset = end;
  }
  return tokens;
}

function kindOf(groups: Record<string, string | undefined>): TokenKind {
  if (groups.identifier !== undefined) return "identifier";
  if (groups.number !== undefined) return "number";
  if (groups.string !== undefined) return "string";
  if (groups.character !== undefined) return "character";
  return "punctuator";
}

/** End of the directive that starts at `offset`: the first line break that no backslash continues. */
function endOfDirective(text: string, offset: number): number {
  for (let end = text.indexOf("\n", offset); end >= 0; end = text.indexOf("\n", end + 1)) {
    const before = text[end - 1] === "\r" ? text[end - 2] : text[end - 1];
    if (before !== "\\") return end;
  }
  return text.length;
}
