/** The declarations that matter outside the compiler: kernels, their explicit instantiations, function constants. */
import type { Diagnostic } from "../device.ts";
import { deduceArguments } from "./deduction.ts";
import { type ConstantValue, evaluate } from "./expression.ts";
import type { Attribute, Syntax } from "./syntax.ts";

export interface TemplateParameter {
  readonly name: string;
  /** Token range of the default argument, if there is one. */
  readonly defaultRange?: readonly [number, number];
}

export interface KernelDeclaration {
  /** First token of the declaration, behind its template header. */
  readonly start: number;
  readonly nameIndex: number;
  readonly name: string;
  /** With its namespaces, as an expression of C++. */
  readonly qualifiedName: string;
  readonly hostName?: string;
  readonly template?: readonly TemplateParameter[];
  readonly attributes: readonly Attribute[];
  /** Token range between the parentheses of the parameter list. */
  readonly parametersStart: number;
  readonly parametersEnd: number;
}

/** `template [[host_name("x")]] [[kernel]] ... name<arguments>...;` */
export interface KernelInstantiation {
  readonly start: number;
  /** Index of the closing `;`. */
  readonly end: number;
  readonly hostName?: string;
  /** Index of the kernel's name before its template arguments. */
  readonly nameIndex: number;
  readonly kernel: KernelDeclaration;
  /** Token ranges of the template arguments, in the order of the template's parameters; defaults are left out. */
  readonly arguments: readonly (readonly [number, number])[];
}

/** `constant T name [[function_constant(index)]];` */
export interface FunctionConstantDeclaration {
  readonly start: number;
  /** Index of the closing `;`. */
  readonly end: number;
  readonly name: string;
  readonly type: string;
  readonly index: number;
}

/** `constant T name = initialiser;` at namespace scope. */
export interface GlobalConstant {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly type: string;
  readonly initialiserStart: number;
}

export interface Declarations {
  readonly kernels: readonly KernelDeclaration[];
  readonly instantiations: readonly KernelInstantiation[];
  readonly functionConstants: readonly FunctionConstantDeclaration[];
  readonly globals: readonly GlobalConstant[];
  /** Stage functions that are no kernels (`vertex`, `fragment`, ...), by the index of the keyword. */
  readonly otherStages: readonly number[];
  readonly diagnostics: readonly Diagnostic[];
}

const OTHER_STAGES: ReadonlySet<string> = new Set(["vertex", "fragment", "object", "mesh"]);
const QUALIFIERS: ReadonlySet<string> = new Set(["constant", "const", "static", "constexpr", "inline"]);

/** What stands before the parameter list of a function, or before the `=` of a variable. */
interface Head {
  readonly isKernel: boolean;
  readonly stage: number;
  readonly attributes: readonly Attribute[];
  readonly nameIndex: number;
  /** Index of `(`; -1 if it is no function. */
  readonly open: number;
}

/** Reads all declarations of a unit whose brackets are balanced. */
export function readDeclarations(syntax: Syntax): Declarations {
  return new Reader(syntax).read();
}

class Reader {
  readonly #syntax: Syntax;
  readonly #kernels: KernelDeclaration[] = [];
  readonly #byName = new Map<string, KernelDeclaration>();
  readonly #instantiations: KernelInstantiation[] = [];
  readonly #functionConstants: FunctionConstantDeclaration[] = [];
  readonly #globals: GlobalConstant[] = [];
  readonly #otherStages: number[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  /** Whole numbers named at namespace scope, which indices of attributes may use. */
  readonly #numbers = new Map<string, ConstantValue>();

  constructor(syntax: Syntax) {
    this.#syntax = syntax;
  }

  read(): Declarations {
    this.#scope(0, this.#syntax.tokens.length, "");
    return {
      kernels: this.#kernels,
      instantiations: this.#instantiations,
      functionConstants: this.#functionConstants,
      globals: this.#globals,
      otherStages: this.#otherStages,
      diagnostics: this.#diagnostics,
    };
  }

  #scope(start: number, end: number, namespace: string): void {
    const syntax = this.#syntax;
    for (let i = start; i < end; ) {
      if (syntax.tokens[i]?.kind === "pragma" || syntax.text(i) === ";") {
        i += 1;
        continue;
      }
      const inner = this.#openedScope(i);
      if (inner) {
        const close = syntax.close(inner.brace);
        this.#scope(inner.brace + 1, close, inner.name === "" ? namespace : `${namespace}${inner.name}::`);
        i = close + 1;
        continue;
      }
      const last = this.#statementEnd(i, end);
      this.#statement(i, last, namespace);
      i = last + 1;
    }
  }

  /** `namespace a::b {` or `extern "C" {` at `index`. */
  #openedScope(index: number): { readonly name: string; readonly brace: number } | undefined {
    const syntax = this.#syntax;
    let i = index;
    if (syntax.text(i) === "inline" && syntax.text(i + 1) === "namespace") i += 1;
    if (syntax.text(i) === "namespace") {
      const nameStart = i + 1;
      for (i = nameStart; syntax.isIdentifier(i) || syntax.text(i) === "::"; ) i += 1;
      return syntax.text(i) === "{" ? { name: syntax.words(nameStart, i), brace: i } : undefined;
    }
    const isLinkage = syntax.text(i) === "extern" && syntax.tokens[i + 1]?.kind === "string";
    return isLinkage && syntax.text(i + 2) === "{" ? { name: "", brace: i + 2 } : undefined;
  }

  /** Last token of the statement at `start`: its `;`, or the `}` of a body. */
  #statementEnd(start: number, end: number): number {
    const syntax = this.#syntax;
    let initialiser = false;
    for (let i = start; i < end; i += 1) {
      const text = syntax.text(i);
      if (text === ";") return i;
      if (text === "template" && syntax.text(i + 1) === "<") {
        // Default arguments of templates are no initialisers.
        const close = syntax.closeAngle(i + 1);
        if (close > 0) i = close;
        continue;
      }
      if (text === "=" && syntax.text(i - 1) !== "operator") initialiser = true;
      if (text === "{" && !initialiser) return Math.min(syntax.close(i), end - 1);
      if (text === "(" || text === "[" || text === "{") i = syntax.close(i);
    }
    return end - 1;
  }

  #statement(start: number, last: number, namespace: string): void {
    const syntax = this.#syntax;
    if (syntax.text(start) === "template" && syntax.text(start + 1) !== "<") {
      this.#instantiation(start, last);
      return;
    }
    let begin = start;
    let template: TemplateParameter[] | undefined;
    while (syntax.text(begin) === "template" && syntax.text(begin + 1) === "<") {
      const close = syntax.closeAngle(begin + 1);
      if (close < 0) return;
      template = this.#templateParameters(begin + 2, close);
      begin = close + 1;
    }
    const head = this.#head(begin, last);
    if (head.stage >= 0) this.#otherStages.push(head.stage);
    if (head.isKernel && head.open >= 0) this.#kernel(begin, last, head, template, namespace);
    else if (syntax.text(last) === ";" && !template) this.#variable(begin, last);
  }

  #head(start: number, last: number): Head {
    const syntax = this.#syntax;
    const attributes: Attribute[] = [];
    let isKernel = false;
    let stage = -1;
    for (let i = start; i <= last; i += 1) {
      const text = syntax.text(i);
      if (syntax.startsAttributes(i)) {
        const found = syntax.attributes(i);
        attributes.push(...found);
        isKernel ||= found.some((attribute) => attribute.name === "kernel");
        for (const attribute of found) if (OTHER_STAGES.has(attribute.name)) stage = attribute.start;
        i = syntax.close(i);
      } else if (text === "kernel") isKernel = true;
      else if (OTHER_STAGES.has(text) && syntax.isIdentifier(i + 1) && i === start) stage = i;
      else if (text === "<") {
        const close = syntax.closeAngle(i);
        if (close > 0) i = close;
      } else if (text === "__attribute__" || text === "decltype" || text === "alignas") i = syntax.close(i + 1);
      else if (text === "(") return { isKernel, stage, attributes, nameIndex: i - 1, open: i };
      else if (text === "=" || text === "{") break;
    }
    return { isKernel, stage, attributes, nameIndex: -1, open: -1 };
  }

  #kernel(
    start: number,
    last: number,
    head: Head,
    template: readonly TemplateParameter[] | undefined,
    namespace: string,
  ): void {
    const syntax = this.#syntax;
    const close = syntax.close(head.open);
    const attributes = [...head.attributes];
    for (let i = close + 1; i < last && syntax.text(i) !== "{"; i += 1) {
      if (!syntax.startsAttributes(i)) continue;
      attributes.push(...syntax.attributes(i));
      i = syntax.close(i);
    }
    const name = syntax.text(head.nameIndex);
    const hostName = this.#hostName(attributes);
    const kernel: KernelDeclaration = {
      start,
      nameIndex: head.nameIndex,
      name,
      qualifiedName: `${namespace}${name}`,
      ...(hostName === undefined ? {} : { hostName }),
      ...(template ? { template } : {}),
      attributes,
      parametersStart: head.open + 1,
      parametersEnd: close,
    };
    // A declaration without a body is reflected where its definition stands.
    if (syntax.text(last) === ";") return;
    this.#kernels.push(kernel);
    this.#byName.set(name, kernel);
  }

  #instantiation(start: number, last: number): void {
    const syntax = this.#syntax;
    const attributes: Attribute[] = [];
    let isKernel = false;
    let found: { nameIndex: number; arguments: readonly (readonly [number, number])[] | undefined } | undefined;
    for (let i = start + 1; i < last; i += 1) {
      if (syntax.startsAttributes(i)) {
        const list = syntax.attributes(i);
        attributes.push(...list);
        isKernel ||= list.some((attribute) => attribute.name === "kernel" || attribute.name === "host_name");
        i = syntax.close(i);
      } else if (syntax.text(i) === "kernel") isKernel = true;
      else if (syntax.text(i) === "decltype" || syntax.text(i) === "(")
        i = syntax.close(syntax.text(i) === "(" ? i : i + 1);
      else if (syntax.isIdentifier(i) && syntax.text(i + 1) === "<") {
        const close = syntax.closeAngle(i + 1);
        if (close < 0) continue;
        if (this.#byName.has(syntax.text(i))) found = { nameIndex: i, arguments: syntax.splitAtCommas(i + 2, close) };
        i = close;
      } else if (syntax.isIdentifier(i) && syntax.text(i + 1) === "(" && !found) {
        const named = this.#byName.get(syntax.text(i));
        if (named) found = { nameIndex: i, arguments: deduceArguments(syntax, named, i + 1) };
      }
    }
    if (!isKernel) return;
    const kernel = found && this.#byName.get(syntax.text(found.nameIndex));
    if (!found?.arguments || !kernel) {
      const message =
        "this explicit instantiation names no kernel template with its arguments: write `name<arguments>`";
      this.#diagnostics.push(syntax.diagnostic(start, message));
      return;
    }
    const hostName = this.#hostName(attributes);
    this.#instantiations.push({
      start,
      end: last,
      ...(hostName === undefined ? {} : { hostName }),
      nameIndex: found.nameIndex,
      kernel,
      arguments: found.arguments,
    });
  }

  #variable(start: number, last: number): void {
    const syntax = this.#syntax;
    let isConstant = false;
    let equals = -1;
    let attribute: Attribute | undefined;
    let attributeStart = -1;
    for (let i = start; i < last && equals < 0; i += 1) {
      if (syntax.startsAttributes(i)) {
        attribute ??= syntax.attributes(i).find((entry) => entry.name === "function_constant");
        if (attribute && attributeStart < 0) attributeStart = i;
        i = syntax.close(i);
      } else if (syntax.text(i) === "constant") isConstant = true;
      else if (syntax.text(i) === "=") equals = i;
      else if (syntax.text(i) === "(" || syntax.text(i) === "{" || syntax.text(i) === "[") i = syntax.close(i);
    }
    const declaratorEnd = attribute ? attributeStart : equals;
    const nameIndex = declaratorEnd - 1;
    if (declaratorEnd < 0 || !syntax.isIdentifier(nameIndex)) return;
    const name = syntax.text(nameIndex);
    const type = this.#type(start, nameIndex);
    if (attribute) {
      const index = this.#integer(attribute.argumentsStart, attribute.argumentsEnd);
      if (!isConstant || syntax.close(attributeStart) + 1 !== last) {
        const message = `'${name}' must be declared as \`constant T name [[function_constant(index)]];\`, one in a statement`;
        this.#diagnostics.push(syntax.diagnostic(nameIndex, message));
      } else if (index === undefined || index < 0 || index > 65_535) {
        const message = `the index of function constant '${name}' must be a constant from 0 to 65535`;
        this.#diagnostics.push(syntax.diagnostic(attribute.start, message));
      } else this.#functionConstants.push({ start, end: last, name, type, index });
      return;
    }
    const value = evaluate(syntax.tokens.slice(equals + 1, last), { value: (other) => this.#numbers.get(other) });
    if (value !== undefined) this.#numbers.set(name, value);
    if (isConstant) this.#globals.push({ start, end: last, name, type, initialiserStart: equals + 1 });
  }

  /** The type in front of a declarator, without qualifiers. */
  #type(start: number, end: number): string {
    const syntax = this.#syntax;
    const words: string[] = [];
    let from = start;
    for (let i = start; i <= end; i += 1) {
      if (i < end && !QUALIFIERS.has(syntax.text(i))) continue;
      if (i > from) words.push(syntax.words(from, i));
      from = i + 1;
    }
    return words.join(" ");
  }

  #templateParameters(start: number, end: number): TemplateParameter[] {
    const syntax = this.#syntax;
    return syntax.splitAtCommas(start, end).map(([from, to]): TemplateParameter => {
      let name = "";
      for (let i = from; i < to; i += 1) {
        // A function as a parameter: `void (*name)(...)`.
        if (syntax.text(i) === "(" && syntax.text(i + 1) === "*") return { name: syntax.text(i + 2) };
        if (syntax.text(i) === "=") return { name, defaultRange: [i + 1, to] };
        if (syntax.text(i) === "<") {
          const close = syntax.closeAngle(i);
          if (close > 0) i = close;
        } else if (syntax.isIdentifier(i)) name = syntax.text(i);
      }
      return { name };
    });
  }

  #hostName(attributes: readonly Attribute[]): string | undefined {
    const attribute = attributes.find((entry) => entry.name === "host_name");
    if (!attribute) return undefined;
    let name = "";
    for (let i = attribute.argumentsStart; i < attribute.argumentsEnd; i += 1) {
      const token = this.#syntax.tokens[i];
      if (token?.kind === "string") name += token.text.slice(1, -1).replace(/\\(.)/g, "$1");
    }
    return name;
  }

  #integer(start: number, end: number): number | undefined {
    const value = evaluate(this.#syntax.tokens.slice(start, end), { value: (name) => this.#numbers.get(name) });
    return typeof value === "number" && Number.isInteger(value) ? value : undefined;
  }
}
