/** Reflection: what a kernel is bound to, read from its signature, as plain values that outlive the tokens. */
import * as z from "zod";
import type { Diagnostic } from "../device.ts";
import { ADDRESS_SPACES, KERNEL_BUILTINS } from "./builtins.ts";
import type { Declarations, KernelDeclaration, KernelInstantiation } from "./declarations.ts";
import { type ConstantValue, evaluateInteger } from "./expression.ts";
import type { Syntax } from "./syntax.ts";

const argumentSchema = z.strictObject({
  name: z.string(),
  kind: z.enum(["buffer", "threadgroup"]),
  index: z.int(),
  addressSpace: z.enum(["device", "constant", "threadgroup"]),
  readOnly: z.boolean(),
  type: z.string(),
  /** Name of the constant that decides whether the argument is there (`[[function_constant(name)]]`). */
  predicate: z.optional(z.string()),
});

/** One parameter in the order of the signature. */
const parameterSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("buffer"), index: z.int() }),
  z.strictObject({ kind: z.literal("threadgroup"), index: z.int() }),
  z.strictObject({ kind: z.literal("builtin"), name: z.string() }),
]);

const functionSchema = z.strictObject({
  name: z.string(),
  /** The function as an expression of C++, with namespaces and template arguments. */
  expression: z.string(),
  arguments: z.array(argumentSchema).readonly(),
  parameters: z.array(parameterSchema).readonly(),
  maxTotalThreadsPerThreadgroup: z.optional(z.int()),
});

export const reflectionSchema = z.strictObject({
  functions: z.array(functionSchema).readonly(),
  functionConstants: z.array(z.strictObject({ name: z.string(), index: z.int(), type: z.string() })).readonly(),
});

export type ReflectedArgument = Readonly<z.infer<typeof argumentSchema>>;
export type KernelParameter = Readonly<z.infer<typeof parameterSchema>>;
export type ReflectedFunction = Readonly<z.infer<typeof functionSchema>>;
export type Reflection = Readonly<z.infer<typeof reflectionSchema>>;

export interface ReflectResult {
  readonly reflection: Reflection;
  readonly diagnostics: readonly Diagnostic[];
}

/** Highest index of a buffer plus one (Metal feature set tables: 31 entries in the buffer argument table). */
const BUFFER_SLOTS = 31;

/** Template arguments of one instantiation, by parameter name. */
type Bindings = ReadonlyMap<string, string>;

/** Reflects every kernel that a host can ask for: plain kernels and explicit instantiations of templates. */
export function reflect(syntax: Syntax, declarations: Declarations): ReflectResult {
  const diagnostics: Diagnostic[] = [];
  const functions: ReflectedFunction[] = [];
  for (const kernel of declarations.kernels) {
    if (kernel.template) continue;
    functions.push(reflectKernel(syntax, kernel, undefined, diagnostics));
  }
  for (const instantiation of declarations.instantiations) {
    functions.push(reflectKernel(syntax, instantiation.kernel, instantiation, diagnostics));
  }
  const seen = new Set<string>();
  for (const entry of functions) {
    if (seen.has(entry.name)) {
      const kernel = declarations.kernels.find((one) => one.name === entry.name || one.hostName === entry.name);
      diagnostics.push(syntax.diagnostic(kernel?.nameIndex ?? 0, `two kernels are called '${entry.name}'`));
    }
    seen.add(entry.name);
  }
  const functionConstants = declarations.functionConstants.map(({ name, index, type }) => ({ name, index, type }));
  return { reflection: { functions, functionConstants }, diagnostics };
}

function reflectKernel(
  syntax: Syntax,
  kernel: KernelDeclaration,
  instantiation: KernelInstantiation | undefined,
  diagnostics: Diagnostic[],
): ReflectedFunction {
  const bindings = bindTemplate(syntax, kernel, instantiation);
  const values = numericBindings(syntax, kernel, instantiation);
  const argumentsText = instantiation?.arguments.map(([start, end]) => syntax.words(start, end)).join(", ");
  const found: ReflectedArgument[] = [];
  const parameters: KernelParameter[] = [];
  const next = { buffer: 0, threadgroup: 0 };
  for (const [start, end] of syntax.splitAtCommas(kernel.parametersStart, kernel.parametersEnd)) {
    if (end === start + 1 && syntax.text(start) === "void") continue;
    const parameter = reflectParameter(syntax, start, end, bindings, values, next);
    if ("message" in parameter) {
      const message = parameter.message.replace("%kernel", kernel.name);
      diagnostics.push(syntax.diagnostic(parameter.at, message));
      continue;
    }
    parameters.push(parameter.parameter);
    if (parameter.argument) {
      const { argument } = parameter;
      const clash = found.find(
        (other) =>
          other.kind === argument.kind && other.index === argument.index && !(other.predicate && argument.predicate),
      );
      if (clash) {
        const message = `'${argument.name}' and '${clash.name}' are both bound to ${argument.kind} index ${argument.index}`;
        diagnostics.push(syntax.diagnostic(start, message));
      }
      found.push(argument);
    }
  }
  const limit = threadLimit(syntax, kernel, values);
  return {
    name: instantiation?.hostName ?? kernel.hostName ?? kernel.name,
    expression: argumentsText === undefined ? kernel.qualifiedName : `${kernel.qualifiedName}<${argumentsText}>`,
    arguments: found,
    parameters,
    ...(limit === undefined ? {} : { maxTotalThreadsPerThreadgroup: limit }),
  };
}

type ParameterResult =
  | { readonly parameter: KernelParameter; readonly argument?: ReflectedArgument }
  | { readonly message: string; readonly at: number };

function reflectParameter(
  syntax: Syntax,
  start: number,
  end: number,
  bindings: Bindings,
  values: ReadonlyMap<string, ConstantValue>,
  next: { buffer: number; threadgroup: number },
): ParameterResult {
  const scope = { value: (name: string) => values.get(name) };
  let declaratorEnd = end;
  let explicit: { kind: "buffer" | "threadgroup"; index: number | undefined; at: number } | undefined;
  let predicate: string | undefined;
  for (let i = start; i < end; i += 1) {
    if (!syntax.startsAttributes(i)) continue;
    declaratorEnd = Math.min(declaratorEnd, i);
    for (const attribute of syntax.attributes(i)) {
      const range = syntax.tokens.slice(attribute.argumentsStart, attribute.argumentsEnd);
      if (KERNEL_BUILTINS.has(attribute.name)) return { parameter: { kind: "builtin", name: attribute.name } };
      if (attribute.name === "buffer" || attribute.name === "threadgroup") {
        explicit = { kind: attribute.name, index: evaluateInteger(range, scope), at: attribute.start };
      } else if (attribute.name === "function_constant")
        predicate = syntax.words(attribute.argumentsStart, attribute.argumentsEnd);
    }
    i = syntax.close(i);
  }
  let nameIndex = declaratorEnd - 1;
  while (nameIndex > start && syntax.text(nameIndex) === "]") nameIndex = syntax.close(nameIndex) - 1;
  const name = syntax.text(nameIndex);
  const addressSpace = addressSpaceOf(syntax, start, nameIndex);
  if (addressSpace === undefined || addressSpace === "thread") {
    const message = `parameter '${name}' of kernel '%kernel' is neither memory (device, constant, threadgroup) nor marked with an attribute such as [[thread_position_in_grid]]`;
    return { message, at: start };
  }
  const kind = addressSpace === "threadgroup" ? "threadgroup" : "buffer";
  if (explicit && explicit.kind !== kind) {
    return {
      message: `'${name}' lies in ${addressSpace} memory, so it cannot be [[${explicit.kind}(n)]]`,
      at: explicit.at,
    };
  }
  const index = explicit ? explicit.index : next[kind];
  if (index === undefined || index < 0 || index >= BUFFER_SLOTS) {
    const message = `the index of '${name}' is ${index ?? "not a constant"}; it must be a constant from 0 to ${BUFFER_SLOTS - 1}`;
    return { message, at: explicit?.at ?? start };
  }
  next[kind] = Math.max(next[kind], index + 1);
  const argument: ReflectedArgument = {
    name,
    kind,
    index,
    addressSpace,
    readOnly: addressSpace === "constant" || pointsToConst(syntax, start, nameIndex),
    type: pointeeType(syntax, start, nameIndex, bindings),
    ...(predicate === undefined ? {} : { predicate }),
  };
  return { parameter: { kind, index }, argument };
}

function addressSpaceOf(
  syntax: Syntax,
  start: number,
  end: number,
): ReflectedArgument["addressSpace"] | "thread" | undefined {
  for (let i = start; i < end; i += 1) {
    const text = syntax.text(i);
    if (text === "<") {
      const close = syntax.closeAngle(i);
      if (close > 0) i = close;
    } else if (text === "device" || text === "constant" || text === "threadgroup" || text === "thread") return text;
  }
  return undefined;
}

function pointsToConst(syntax: Syntax, start: number, end: number): boolean {
  for (let i = start; i < end; i += 1) {
    if (syntax.text(i) === "*" || syntax.text(i) === "&") return false;
    if (syntax.text(i) === "const") return true;
  }
  return false;
}

/** The type without qualifiers, with template parameters replaced by what they stand for. */
function pointeeType(syntax: Syntax, start: number, end: number, bindings: Bindings): string {
  let text = "";
  for (let i = start; i < end; i += 1) {
    const word = syntax.text(i);
    if (ADDRESS_SPACES.has(word) || word === "const" || word === "volatile" || word === "restrict") continue;
    if (word === "*" || word === "&") break;
    const part = bindings.get(word) ?? word;
    text += /\w$/.test(text) && /^\w/.test(part) ? ` ${part}` : part;
  }
  return text;
}

/** Text of each template argument, defaults included. */
function bindTemplate(
  syntax: Syntax,
  kernel: KernelDeclaration,
  instantiation: KernelInstantiation | undefined,
): Bindings {
  const bindings = new Map<string, string>();
  for (const [name, [start, end]] of templateRanges(kernel, instantiation)) {
    bindings.set(name, syntax.words(start, end, bindings));
  }
  return bindings;
}

/** Value of each template argument that is a number. */
function numericBindings(
  syntax: Syntax,
  kernel: KernelDeclaration,
  instantiation: KernelInstantiation | undefined,
): ReadonlyMap<string, ConstantValue> {
  const values = new Map<string, ConstantValue>();
  for (const [name, [start, end]] of templateRanges(kernel, instantiation)) {
    const value = evaluateInteger(syntax.tokens.slice(start, end), { value: (other) => values.get(other) });
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

function templateRanges(
  kernel: KernelDeclaration,
  instantiation: KernelInstantiation | undefined,
): [string, readonly [number, number]][] {
  if (!instantiation || !kernel.template) return [];
  const ranges: [string, readonly [number, number]][] = [];
  for (const [index, parameter] of kernel.template.entries()) {
    const range = instantiation.arguments[index] ?? parameter.defaultRange;
    if (range) ranges.push([parameter.name, range]);
  }
  return ranges;
}

function threadLimit(
  syntax: Syntax,
  kernel: KernelDeclaration,
  values: ReadonlyMap<string, ConstantValue>,
): number | undefined {
  const attribute = kernel.attributes.find((entry) => entry.name === "max_total_threads_per_threadgroup");
  if (!attribute) return undefined;
  const range = syntax.tokens.slice(attribute.argumentsStart, attribute.argumentsEnd);
  return evaluateInteger(range, { value: (name) => values.get(name) });
}
