/**
 * The token transform: MSL that a C++ compiler takes, with the author's lines. It changes tokens, never the meaning:
 * what the C++ headers provide is named in `native/msl/include/metal/prelude.h`.
 */
import { ADDRESS_SPACES, MSL_ATTRIBUTES } from "./builtins.ts";
import { castNames, writeCast } from "./casts.ts";
import type { Declarations, FunctionConstantDeclaration } from "./declarations.ts";
import { type ConstantValue, evaluate } from "./expression.ts";
import { Edits, type Layout, layOut } from "./layout.ts";
import { placeString, readSwizzle, takesPlainStrings, writeLiteral } from "./operands.ts";
import type { ReflectedFunction } from "./reflection.ts";
import type { Syntax } from "./syntax.ts";

/** Values of function constants by name; a constant without an entry is not defined. */
export type ConstantValues = ReadonlyMap<string, ConstantValue>;

/** Name under which messages about the generated entry arrive. */
const ENTRY_FILE = "<kernel entry>";

/** Rewrites the unit for one kernel with the given function constants. */
export function transform(
  syntax: Syntax,
  declarations: Declarations,
  entry: ReflectedFunction,
  constants: ConstantValues,
): Layout {
  const edits = new Edits();
  for (const instantiation of declarations.instantiations) edits.drop(instantiation.start, instantiation.end + 1);
  writeConstants(syntax, declarations, constants, edits);
  const inInstantiation = instantiationTest(declarations);
  const casts = castNames(syntax);
  /** Strings before this token are for the compiler. */
  let plainStrings = 0;
  for (let i = 0; i < syntax.tokens.length; i += 1) {
    if (inInstantiation(i)) continue;
    const token = syntax.tokens[i];
    if (token?.kind === "pragma") edits.replace(i, pragmaText(token.text));
    else if (token?.kind === "number") writeLiteral(token.text, i, edits);
    else if (token?.kind === "string" && i >= plainStrings) placeString(syntax, i, edits);
    else if (token?.text === "?") takeValues(syntax, i, edits);
    else if (syntax.startsAttributes(i)) {
      dropAttributes(syntax, i, edits);
      i = syntax.close(i);
    } else if (token?.text === "(") writeCast(syntax, i, casts, edits);
    else if (token?.kind === "identifier") {
      if (takesPlainStrings(token.text)) plainStrings = syntax.close(i + 1);
      writeCast(syntax, i, casts, edits);
      if (token.text === "is_function_constant_defined") writeDefined(syntax, i, constants, edits);
      else if (ADDRESS_SPACES.has(token.text)) {
        if (isMethodQualifier(syntax, i)) qualifyMethod(syntax, i, edits);
        else if (token.text === "threadgroup" && declaresThreadgroupMemory(syntax, i)) {
          // Behind `alignas`, which may only stand first.
          edits.before(qualifierStart(syntax, i), "static LS_STATIC_THREADGROUP ");
        } else if (token.text !== "thread") arrayToPointer(syntax, i, edits);
      } else readSwizzle(syntax, i, edits);
    }
  }
  const layout = layOut(syntax.unit, edits);
  return { ...layout, text: layout.text + entryText(entry) };
}

/** The exported function that binds the kernel's parameters and calls it. */
function entryText(entry: ReflectedFunction): string {
  const parameters = entry.parameters.map((parameter) => {
    if (parameter.kind === "buffer") return `::lockstep::Buffer<${parameter.index}>`;
    if (parameter.kind === "threadgroup") return `::lockstep::Threadgroup<${parameter.index}>`;
    return `::lockstep::Builtin<::lockstep::builtin::${parameter.name}>`;
  });
  // From the global scope: a kernel may be called like a function of the library.
  const list = [`&::${entry.expression}`, ...parameters].join(", ");
  return [
    `# 1 ${JSON.stringify(ENTRY_FILE)}`,
    'extern "C" [[clang::sycl_external]] __attribute__((used, visibility("default"))) void lockstep_entry() {',
    `  ::lockstep::Entry<${list}>::run();`,
    "}",
    "",
  ].join("\n");
}

/** Function constants become constants of the language, so that the compiler specialises as Metal does. */
function writeConstants(syntax: Syntax, declarations: Declarations, constants: ConstantValues, edits: Edits): void {
  const missing = new Set<string>();
  for (const constant of declarations.functionConstants) {
    const value = constants.get(constant.name);
    if (value === undefined) missing.add(constant.name);
    const nameIndex = declareAs(syntax, constant, value === undefined ? "extern const" : "static constexpr", edits);
    if (value !== undefined) edits.after(nameIndex, ` = ${literal(value, constant.type)}`);
  }
  // A constant computed from one that has no value has none either, unless the missing one does not matter.
  for (const constant of declarations.globals) {
    const scope = globalScope(declarations, syntax, constants);
    const initialiser = syntax.tokens.slice(constant.initialiserStart, constant.end);
    if (!initialiser.some((token) => missing.has(token.text))) continue;
    if (evaluate(initialiser, scope) !== undefined) continue;
    missing.add(constant.name);
    declareAs(syntax, constant, "extern const", edits);
    edits.drop(constant.initialiserStart - 1, constant.end);
  }
}

/** Replaces the qualifiers of a declaration and drops its attributes; returns the index of its name. */
function declareAs(
  syntax: Syntax,
  declaration: { readonly start: number; readonly end: number; readonly name: string },
  qualifiers: string,
  edits: Edits,
): number {
  let isFirst = true;
  for (let i = declaration.start; i < declaration.end; i += 1) {
    const text = syntax.text(i);
    if (text === declaration.name) return i;
    if (text === "constant" || text === "const" || text === "static" || text === "constexpr") {
      edits.replace(i, isFirst ? qualifiers : "");
      isFirst = false;
    }
  }
  return declaration.end - 1;
}

/** What names mean in initialisers and predicates: function constants, and constants computed from them. */
export function globalScope(
  declarations: Declarations,
  syntax: Syntax,
  constants: ConstantValues,
): { readonly value: (name: string) => ConstantValue | undefined; readonly isDefined: (name: string) => boolean } {
  const open = new Set<string>();
  const scope = {
    isDefined: (name: string): boolean => constants.has(name),
    value: (name: string): ConstantValue | undefined => {
      if (constants.has(name)) return constants.get(name);
      const global = declarations.globals.find((entry) => entry.name === name);
      if (!global || open.has(name)) return undefined;
      open.add(name);
      const value = evaluate(syntax.tokens.slice(global.initialiserStart, global.end), scope);
      open.delete(name);
      return value;
    },
  };
  return scope;
}

function literal(value: ConstantValue, type: string): string {
  if (type === "bool") return String(Boolean(value));
  if (typeof value === "boolean") return value ? "1" : "0";
  return Number.isInteger(value) && /^(?:float|half|bfloat)/.test(type) ? `${value}.0` : String(value);
}

function writeDefined(syntax: Syntax, index: number, constants: ConstantValues, edits: Edits): void {
  if (syntax.text(index + 1) !== "(") return;
  edits.replace(index, String(constants.has(syntax.text(index + 2))));
  edits.drop(index + 1, syntax.close(index + 1) + 1);
}

/** Only pragmas about loops reach the compiler; arguments that are names were not expanded and are hints only. */
function pragmaText(text: string): string {
  const words = /^#\s*pragma\s+(.*)$/s.exec(text)?.[1]?.trim() ?? "";
  const kept = /^(?:(?:no)?unroll(?:\s*\(\s*\d+\s*\)|\s+\d+)?$|clang\s+loop\b)/.test(words);
  return kept ? `_Pragma(${JSON.stringify(words)})` : "";
}

/** Takes out attributes of MSL; `kernel` stays as the keyword that it also is. */
function dropAttributes(syntax: Syntax, start: number, edits: Edits): void {
  const attributes = syntax.attributes(start);
  const kept = attributes.filter((attribute) => !MSL_ATTRIBUTES.has(attribute.name));
  const end = syntax.close(start) + 1;
  if (kept.length === attributes.length && kept.length > 0) return;
  edits.drop(start + 1, end);
  const words = kept.length > 0 ? `[[${kept.map((one) => syntax.words(one.start, one.end)).join(", ")}]]` : "";
  edits.replace(start, attributes.some((one) => one.name === "kernel") ? `kernel ${words}`.trim() : words);
}

/**
 * `cond ? buffer[i] : float4(0)`: operands that are values in different address spaces have no common type in C++, so
 * an operand that reads memory is turned into a plain value. Not where the result is assigned to or its address taken.
 */
function takeValues(syntax: Syntax, question: number, edits: Edits): void {
  const colon = findColon(syntax, question + 1);
  if (colon < 0) return;
  const end = operandEnd(syntax, colon + 1);
  if (isUsedAsPlace(syntax, question, end)) return;
  for (const [start, stop] of [
    [question + 1, colon],
    [colon + 1, end],
  ] as const) {
    if (stop <= start || !readsMemory(syntax, start, stop)) continue;
    edits.before(start, "::lockstep::rvalue(");
    edits.after(stop - 1, ")");
  }
}

function findColon(syntax: Syntax, start: number): number {
  let nested = 0;
  for (let i = start; i < syntax.tokens.length; i += 1) {
    const text = syntax.text(i);
    if (text === "(" || text === "[" || text === "{") i = syntax.close(i);
    else if (text === "?") nested += 1;
    else if (text === ":") {
      if (nested === 0) return i;
      nested -= 1;
    } else if (text === ";" || text === ")" || text === "]" || text === "}") return -1;
  }
  return -1;
}

function operandEnd(syntax: Syntax, start: number): number {
  let nested = 0;
  let i = start;
  for (; i < syntax.tokens.length; i += 1) {
    const text = syntax.text(i);
    if (text === "(" || text === "[" || text === "{") i = syntax.close(i);
    else if (text === "<" && syntax.isIdentifier(i - 1)) {
      const close = syntax.closeAngle(i);
      if (close > 0 && /^(?:\(|\{|::)$/.test(syntax.text(close + 1))) i = close;
    } else if (text === "?") nested += 1;
    else if (text === ":") {
      if (nested === 0) break;
      nested -= 1;
    } else if (/^[,;)\]}]$/.test(text)) break;
  }
  return i;
}

function readsMemory(syntax: Syntax, start: number, end: number): boolean {
  if (syntax.text(end - 1) === "]" || syntax.text(start) === "*") return true;
  return syntax.isIdentifier(end - 1) && (syntax.text(end - 2) === "." || syntax.text(end - 2) === "->");
}

/** `(c ? a[i] : b[i]) = x` and `&(c ? a[i] : b[i])`. */
function isUsedAsPlace(syntax: Syntax, question: number, end: number): boolean {
  if (syntax.text(end) !== ")") return false;
  const open = syntax.close(end);
  if (open > question) return false;
  const before = syntax.text(open - 1);
  const isAddress = before === "&" && !syntax.isIdentifier(open - 2) && !/^[)\]]$/.test(syntax.text(open - 2));
  return isAddress || /^(?:=|[-+*/%&|^]=|\+\+|--)$/.test(syntax.text(end + 1)) || before === "++" || before === "--";
}

/** A qualifier behind the parameter list of a method: `float get() const device {`. */
function isMethodQualifier(syntax: Syntax, index: number): boolean {
  let next = index + 1;
  while (/^(?:const|volatile|noexcept)$/.test(syntax.text(next))) next += 1;
  if (!/^[{;:=]$/.test(syntax.text(next))) return false;
  let previous = index - 1;
  while (/^(?:const|volatile|constexpr|noexcept)$/.test(syntax.text(previous))) previous -= 1;
  return syntax.text(previous) === ")";
}

/** The headers' attributes for the qualifier; C++ wants them behind `noexcept`. */
function qualifyMethod(syntax: Syntax, index: number, edits: Edits): void {
  edits.replace(index, syntax.text(index + 1) === "noexcept" ? "" : `LS_METHOD_${syntax.text(index)}`);
  if (syntax.text(index + 1) === "noexcept") edits.after(index + 1, ` LS_METHOD_${syntax.text(index)}`);
}

/** First of the qualifiers that the one at `index` stands among. */
function qualifierStart(syntax: Syntax, index: number): number {
  let start = index;
  while (syntax.text(start - 1) === "const" || syntax.text(start - 1) === "volatile") start -= 1;
  return start;
}

/** First token of the declaration that the qualifier at `index` belongs to: before `alignas` and attributes. */
function declarationStart(syntax: Syntax, index: number): number {
  let start = qualifierStart(syntax, index);
  for (;;) {
    const open = syntax.text(start - 1) === ")" ? syntax.close(start - 1) : -1;
    if (open > 0 && syntax.text(open - 1) === "alignas") start = open - 1;
    else if (syntax.endsAttributes(start - 1)) start = syntax.close(start - 1);
    else return start;
  }
}

/** `threadgroup T name[N];` as a statement: memory of the threadgroup. Not a pointer, reference or parameter. */
function declaresThreadgroupMemory(syntax: Syntax, index: number): boolean {
  const start = declarationStart(syntax, index);
  const before = syntax.text(start - 1);
  if (start > 0 && !/^[;{}:]$/.test(before) && syntax.tokens[start - 1]?.kind !== "pragma") return false;
  for (let i = index + 1; i < syntax.tokens.length; i += 1) {
    const text = syntax.text(i);
    if (text === "<") {
      const close = syntax.closeAngle(i);
      if (close < 0) return false;
      i = close;
    } else if (text === "decltype" && syntax.text(i + 1) === "(") i = syntax.close(i + 1);
    else if (text === "*" || text === "&" || text === "(") return false;
    else if (/^[;=[,{]$/.test(text)) return syntax.isIdentifier(i - 1) && i > index + 2;
  }
  return false;
}

/** `constant const long strides[3]` as a parameter: an array in an address space decays to a pointer. */
function arrayToPointer(syntax: Syntax, index: number, edits: Edits): void {
  if (!/^[(,]$/.test(syntax.text(qualifierStart(syntax, index) - 1))) return;
  for (let i = index + 1; i < syntax.tokens.length; i += 1) {
    const text = syntax.text(i);
    if (text === "<") {
      const close = syntax.closeAngle(i);
      if (close < 0) return;
      i = close;
    } else if (text === "[" && syntax.isIdentifier(i - 1) && !syntax.startsAttributes(i)) {
      const close = syntax.close(i);
      let last = close;
      while (syntax.text(last + 1) === "[" && !syntax.startsAttributes(last + 1)) last = syntax.close(last + 1);
      if (!/^[,)]$/.test(syntax.text(last + 1)) && !syntax.startsAttributes(last + 1)) return;
      edits.replace(i - 1, last === close ? `*${syntax.text(i - 1)}` : `(*${syntax.text(i - 1)})`);
      edits.drop(i, close + 1);
      return;
    } else if (/^[*&,()[;{=]$/.test(text)) return;
  }
}

function instantiationTest(declarations: Declarations): (index: number) => boolean {
  let next = 0;
  return (index) => {
    while ((declarations.instantiations[next]?.end ?? Number.POSITIVE_INFINITY) < index) next += 1;
    return index >= (declarations.instantiations[next]?.start ?? Number.POSITIVE_INFINITY);
  };
}

/** A value for every constant that was given by name or by index; names and indices that do not exist are errors. */
export function bindConstants(
  known: readonly Pick<FunctionConstantDeclaration, "name" | "index" | "type">[],
  given: Readonly<Record<string, number | boolean>>,
): { readonly values: ConstantValues; readonly problem?: string } {
  const values = new Map<string, ConstantValue>();
  for (const [key, value] of Object.entries(given)) {
    const matches = known.filter((constant) => constant.name === key || String(constant.index) === key);
    if (matches.length === 0) {
      const names = known.map((constant) => `${constant.name} (${constant.index})`).join(", ");
      return { values, problem: `there is no function constant '${key}'; this source has ${names || "none"}` };
    }
    for (const constant of matches) {
      const problem = valueProblem(constant, value);
      if (problem !== undefined) return { values, problem };
      values.set(constant.name, value);
    }
  }
  return { values };
}

const INTEGER_RANGES: Readonly<Record<string, readonly [number, number]>> = {
  char: [-128, 127],
  uchar: [0, 255],
  short: [-32_768, 32_767],
  ushort: [0, 65_535],
  int: [-2_147_483_648, 2_147_483_647],
  uint: [0, 4_294_967_295],
  int32_t: [-2_147_483_648, 2_147_483_647],
  uint32_t: [0, 4_294_967_295],
  int16_t: [-32_768, 32_767],
  uint16_t: [0, 65_535],
};

function valueProblem(
  constant: Pick<FunctionConstantDeclaration, "name" | "type">,
  value: ConstantValue,
): string | undefined {
  const { name, type } = constant;
  if (typeof value === "number" && !Number.isFinite(value))
    return `function constant '${name}' is ${value}; it must be finite`;
  const range = INTEGER_RANGES[type];
  if (!range || typeof value === "boolean") return undefined;
  if (Number.isInteger(value) && value >= range[0] && value <= range[1]) return undefined;
  return `function constant '${name}' is ${value}; its type ${type} holds whole numbers from ${range[0]} to ${range[1]}`;
}
