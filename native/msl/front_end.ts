/** The front end as one step: flattened, preprocessed text in; reflection, or messages about the source, out. */
import type { CompileOptions, Diagnostic } from "../device.ts";
import { type Declarations, readDeclarations } from "./declarations.ts";
import { LANGUAGE_VERSIONS, readUnit, type Unit } from "./preprocess.ts";
import { type Reflection, reflect } from "./reflection.ts";
import type { FlatSource } from "./source.ts";
import { Syntax } from "./syntax.ts";
import { findUnsupported } from "./unsupported.ts";

/** A source that was read: everything that the transform needs. */
export interface Program {
  readonly unit: Unit;
  readonly syntax: Syntax;
  readonly declarations: Declarations;
  readonly reflection: Reflection;
}

export type ReadResult =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Reads preprocessed text. Refuses unbalanced brackets, unsupported constructs and signatures that bind nothing. */
export function readProgram(preprocessed: string, flat: FlatSource): ReadResult {
  const unit = readUnit(preprocessed, flat);
  const syntax = new Syntax(unit);
  if (syntax.unbalanced.length > 0) return { ok: false, diagnostics: syntax.unbalanced };
  const declarations = readDeclarations(syntax);
  const unsupported = findUnsupported(syntax, declarations);
  if (unsupported.length > 0) return { ok: false, diagnostics: unsupported };
  const { reflection, diagnostics } = reflect(syntax, declarations);
  const problems = [...declarations.diagnostics, ...diagnostics];
  if (problems.length > 0) return { ok: false, diagnostics: problems };
  return { ok: true, program: { unit, syntax, declarations, reflection } };
}

/** What is wrong with the options, or undefined. */
export function optionsProblem(options: CompileOptions): string | undefined {
  const version = options.languageVersion;
  if (version !== undefined && !(version in LANGUAGE_VERSIONS)) {
    return `MSL version '${version}' is not known; known are ${Object.keys(LANGUAGE_VERSIONS).join(", ")}`;
  }
  for (const name of Object.keys(options.defines ?? {})) {
    if (!/^[A-Za-z_]\w*$/.test(name)) return `'${name}' is not a name of a macro`;
  }
  return undefined;
}
