/**
 * Flattening: one text out of a `.metal` file and the files that it includes by name. Metal's run-time compiler has no
 * include path, so the same text is what a Mac gets and what an evidence bundle keeps.
 */
import type { Diagnostic, MetalSource } from "../device.ts";
import { tokenise } from "./tokens.ts";

export interface FlatSource {
  readonly path: string;
  /** The text with `#line` directives, so that every message names the file and line that the author wrote. */
  readonly text: string;
  /** All files that went in, the main file first. */
  readonly files: readonly MetalSource[];
}

export type FlattenResult =
  | { readonly ok: true; readonly flat: FlatSource }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

const QUOTED_INCLUDE = /^#\s*(?:include|import)\s*"([^"\n]*)"/;
const PRAGMA_ONCE = /^#\s*pragma\s+once\b/;
const CONDITION_START = /^#\s*(?:if|ifdef|ifndef)\b/;
const CONDITION_END = /^#\s*endif\b/;

/**
 * Replaces each `#include "name"` of `source` by the text of the file among `includes` that has this name, each file
 * once. `name` is looked up relative to the including file, then as a whole path, then as the end of exactly one path.
 * An include of a file that is not there (or of more than one) is an error at its own file, line and column.
 */
export function flatten(source: MetalSource, includes: readonly MetalSource[] = []): FlattenResult {
  const diagnostics: Diagnostic[] = [];
  const guards = new Map<MetalSource, string>();
  /** Files whose text already stands outside any condition: another include of them adds nothing. */
  const done = new Set<MetalSource>([source]);

  function expand(file: MetalSource, open: readonly MetalSource[], conditional: boolean): string {
    const lines = file.text.split("\n");
    const isMain = open.length === 0;
    let depth = 0;
    for (const directive of tokenise(file.text)) {
      if (directive.kind !== "directive") continue;
      if (CONDITION_START.test(directive.text)) depth += 1;
      if (CONDITION_END.test(directive.text)) depth = Math.max(0, depth - 1);
      if (PRAGMA_ONCE.test(directive.text)) lines[directive.line - 1] = "";
      const name = QUOTED_INCLUDE.exec(directive.text)?.[1];
      if (name === undefined) continue;
      const found = resolve(name, file, includes);
      if (typeof found === "string") {
        diagnostics.push({
          severity: "error",
          path: file.path,
          line: directive.line,
          column: directive.column,
          message: found,
        });
        continue;
      }
      lines[directive.line - 1] = "";
      if (done.has(found) || open.includes(found)) continue;
      // An include guard around the whole file is no condition: its text is there whenever the file is.
      const inside = conditional || depth > (isGuarded(file) ? 1 : 0);
      if (!inside) done.add(found);
      const text = expand(found, [...open, file], inside);
      lines[directive.line - 1] = `${text}\n#line ${directive.line + 1} ${quote(file.path)}`;
    }
    const body = `#line 1 ${quote(file.path)}\n${lines.join("\n")}`;
    if (isMain) return body;
    const guard = guards.get(file) ?? `LOCKSTEP_INCLUDED_${guards.size}`;
    guards.set(file, guard);
    return `#ifndef ${guard}\n#define ${guard}\n${body}\n#endif`;
  }

  const text = expand(source, [], false);
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const used = includes.filter((file) => guards.has(file));
  return { ok: true, flat: { path: source.path, text: `${text}\n`, files: [source, ...used] } };
}

/** The file that `name` means inside `from`, or the reason why there is none. */
function resolve(name: string, from: MetalSource, includes: readonly MetalSource[]): MetalSource | string {
  const wanted = normalise(name);
  const relative = normalise(`${from.path.replaceAll("\\", "/").replace(/[^/]*$/, "")}${name}`);
  const exact =
    includes.find((file) => normalise(file.path) === relative) ??
    includes.find((file) => normalise(file.path) === wanted);
  if (exact) return exact;
  const tails = includes.filter((file) => `/${normalise(file.path)}`.endsWith(`/${wanted}`));
  const only = tails[0];
  if (only && tails.length === 1) return only;
  if (tails.length > 1) {
    return `"${name}" could mean ${tails.map((file) => file.path).join(" or ")}: write more of the path`;
  }
  const given = includes.length > 0 ? includes.map((file) => file.path).join(", ") : "none";
  return `"${name}" is not among the files given with this source (${given}): Metal's run-time compiler has no include path, so pass the file in \`includes\``;
}

function normalise(path: string): string {
  const parts: string[] = [];
  for (const part of path.replaceAll("\\", "/").split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}

/** True if the first directive is `#ifndef X`, the second `#define X` and the last `#endif`, with no token outside. */
function isGuarded(file: MetalSource): boolean {
  const tokens = tokenise(file.text);
  const name = /^#\s*ifndef\s+(\w+)\s*$/.exec(tokens[0]?.text.trim() ?? "")?.[1];
  const defined = /^#\s*define\s+(\w+)/.exec(tokens[1]?.text ?? "")?.[1];
  return name !== undefined && name === defined && CONDITION_END.test(tokens.at(-1)?.text ?? "");
}

function quote(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
