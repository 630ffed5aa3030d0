/**
 * Lists every name of the Metal Shading Language that kernel sources use, and refuses what `msl_surface.ts` does not
 * list or what is newer than the stated language version. It reads tokens, not a syntax tree: a name counts as the
 * kernel's own if any of the files declares it.
 */
import { type LintToken, lintTokens } from "./lint_tokens.ts";
import { MSL_SURFACE, type SurfaceEntry } from "./msl_surface.ts";
import { compareVersions, KERNEL_LANGUAGE_VERSION } from "./predicates.ts";

export interface LintSource {
  readonly path: string;
  readonly text: string;
}

/** A name of the language at one place. */
export interface Use {
  readonly entry: SurfaceEntry;
  readonly path: string;
  readonly line: number;
}

export interface Finding {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface LintResult {
  readonly uses: readonly Use[];
  readonly findings: readonly Finding[];
}

export interface LintOptions {
  readonly languageVersion?: string;
  readonly surface?: readonly SurfaceEntry[];
}

interface Declared {
  readonly types: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

type Surface = ReadonlyMap<string, SurfaceEntry>;

/** Vector components, alone or as a swizzle. */
const COMPONENTS = /^(?:[xyzw]{1,4}|[rgba]{1,4})$/;

/** Lints files that are compiled together: a `.metal` source and what it includes. */
export function lint(sources: readonly LintSource[], options: LintOptions = {}): LintResult {
  const { languageVersion = KERNEL_LANGUAGE_VERSION, surface = MSL_SURFACE } = options;
  const byKind = new Map(surface.map((entry) => [`${spaceOf(entry)} ${entry.name}`, entry]));
  const files = sources.map((source) => ({ path: source.path, tokens: lintTokens(source.text) }));
  const declared = declarations(
    files.flatMap((file) => file.tokens),
    byKind,
  );
  const uses: Use[] = [];
  const findings: Finding[] = [];

  for (const { path, tokens } of files) {
    for (const [index, token] of tokens.entries()) {
      const outcome = judge(tokens, index, byKind, declared);
      if (outcome === undefined) continue;
      const { line, column } = token;
      if (typeof outcome === "string") {
        findings.push({ path, line, column, message: outcome });
        continue;
      }
      uses.push({ entry: outcome, path, line });
      if (compareVersions(outcome.since, languageVersion) > 0) {
        const message = `${outcome.name} needs MSL ${outcome.since}; the kernels are compiled as ${languageVersion}`;
        findings.push({ path, line, column, message });
      }
      const wrongCount = arityFault(tokens, index, outcome);
      if (wrongCount) findings.push({ path, line, column, message: wrongCount });
    }
  }
  return { uses, findings };
}

/** Attributes, members, headers and directives have name spaces of their own. */
function spaceOf(entry: SurfaceEntry): string {
  return ["attribute", "member", "header", "directive"].includes(entry.kind) ? entry.kind : "code";
}

/** The entry that a token uses, what is wrong with it, or undefined for a name of the kernel's own. */
function judge(
  tokens: readonly LintToken[],
  index: number,
  surface: Surface,
  declared: Declared,
): SurfaceEntry | string | undefined {
  const token = tokens[index]!;
  const { text, kind, context } = token;
  if (kind === "directive" || kind === "header") {
    return surface.get(`${kind} ${text}`) ?? `the ${kind} ${text} is not in the table of what the kernels use`;
  }
  if (kind !== "identifier" || context === "message") return undefined;
  if (context === "attribute") {
    return surface.get(`attribute ${text}`) ?? `the attribute [[${text}]] is not in the table of what the kernels use`;
  }
  const before = tokens[index - 1]?.text;
  if (before === "." || before === "->") {
    const member = surface.get(`member ${text}`);
    if (member) return member;
    if (declared.names.has(text) || COMPONENTS.test(text)) return undefined;
    return `the member .${text} is neither declared nor in the table of what the kernels use`;
  }
  if (before === "::" && tokens[index - 2]?.text !== "metal") {
    const scope = tokens[index - 2]?.text ?? "";
    const qualified = surface.get(`code ${scope}::${text}`);
    if (qualified) return qualified;
    if (declared.types.has(scope) && (declared.names.has(text) || declared.types.has(text))) return undefined;
    return `${scope}::${text} is neither declared nor in the table of what the kernels use`;
  }
  if (declared.names.has(text) || declared.types.has(text)) return undefined;
  return surface.get(`code ${text}`) ?? `${text} is neither declared nor in the table of what the kernels use`;
}

/** Compares a call's number of arguments with the overloads that the table lists. */
function arityFault(tokens: readonly LintToken[], index: number, entry: SurfaceEntry): string | undefined {
  if (entry.arity === undefined) return undefined;
  let at = index + 1;
  if (tokens[at]?.text === "<") {
    while (at < tokens.length && tokens[at]!.text !== ">") at++;
    at++;
  }
  if (tokens[at]?.text !== "(") return `${entry.name} is a function, but it is not called here`;
  let depth = 0;
  let count = tokens[at + 1]?.text === ")" ? 0 : 1;
  for (; at < tokens.length; at++) {
    const { text } = tokens[at]!;
    if ("([{".includes(text)) depth++;
    else if (")]}".includes(text)) depth--;
    else if (text === "," && depth === 1) count++;
    if (depth === 0) break;
  }
  if (entry.arity.includes(count)) return undefined;
  return `${entry.name} is called with ${count} arguments; the table lists overloads with ${entry.arity.join(" or ")}`;
}

/**
 * Names that the files declare. A declaration is a name that stands behind a type (with `*`, `&` or template arguments
 * between them) and before one of `= ; , ) ( [ { :`; so types have to be collected first.
 */
function declarations(tokens: readonly LintToken[], surface: Surface): Declared {
  const types = new Set<string>();
  const names = new Set<string>();
  const text = (index: number): string => tokens[index]?.text ?? "";
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "macro") names.add(token.text);
    if (text(index - 1) === "struct") types.add(token.text);
    if (text(index - 1) === "typename" && /^[,>]$/.test(text(index + 1))) types.add(token.text);
    if (token.text === "typedef") {
      const end = tokens.findIndex((other, at) => at > index && other.text === ";");
      types.add(text(end - 1));
    }
  }
  // A macro that stands for a type, such as ELEMENT, is used like one.
  const isType = (name: string): boolean =>
    types.has(name) || names.has(name) || surface.get(`code ${name}`)?.kind === "type";
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "identifier" || token.context !== "code") continue;
    if (!/^[=;,)([{:]$/.test(text(index + 1)) && text(index + 1) !== "[[") continue;
    let before = index - 1;
    while (text(before) === "*" || text(before) === "&") before--;
    if (text(before) === ">") {
      while (before >= 0 && text(before) !== "<") before--;
      before--;
    }
    if (isType(text(before))) names.add(token.text);
  }
  return { types, names };
}
