/**
 * What the hand-written headers declare, read from their text: enough of Objective-C for their own plain style, one
 * declaration a statement. Anything else is an error, so that nothing is passed over.
 */

/** `MTLDevice.supportsFamily:` for a member, otherwise the bare name. */
export interface Declaration {
  readonly name: string;
  readonly kind:
    | "class"
    | "protocol"
    | "property"
    | "method"
    | "function"
    | "constant"
    | "enumerator"
    | "type"
    | "macro";
  /** macOS version of `API_AVAILABLE` on it or on what it is a member of. */
  readonly since: string | undefined;
  /** SDK version that it is declared from: `150000`. */
  readonly sdk: number | undefined;
  /** The whole statement, for looking up which other names it takes. */
  readonly text: string;
}

const AVAILABLE = /API_AVAILABLE\(macos\(([\d.]+)\)\)/;
const GUARD = /^#if __MAC_OS_X_VERSION_MAX_ALLOWED >= (\d+)$/;
/** Words after a declaration, and around it. */
const ATTRIBUTES =
  /API_(?:AVAILABLE|DEPRECATED)\((?:[^()]|\([^()]*\))*\)|NS_(?:RETURNS_\w+|UNAVAILABLE|ASSUME_NONNULL_\w+)|__attribute__\(\((?:[^()]|\([^()]*\))*\)\)/g;

const INSTANCE_VARIABLES = /^ ?(@interface [^{;]*)\{.*\}$/;

interface Statement {
  readonly text: string;
  readonly sdk: number | undefined;
}

/** Throws Error on a statement that it does not know. */
export function readDeclarations(text: string): readonly Declaration[] {
  const found: Declaration[] = [];
  let container: { name: string; since: string | undefined } | undefined;
  for (const statement of statements(text)) {
    const words = statement.text;
    const since = AVAILABLE.exec(words)?.[1];
    const plain = words
      .replace(ATTRIBUTES, " ")
      .replace(/\s+/g, " ")
      .replace(/ ;$/, ";")
      .replace(INSTANCE_VARIABLES, "$1")
      .trim();
    const add = (kind: Declaration["kind"], name: string): void => {
      const whole = container === undefined ? name : `${container.name}.${name}`;
      found.push({ kind, name: whole, since: since ?? container?.since, sdk: statement.sdk, text: words });
    };
    const macro = /^#define (\w+)/.exec(words)?.[1];
    const opened = /^@(interface|protocol) (\w+)[^;]*$/.exec(plain);
    if (/^@(class|protocol) [\w, ]+;$/.test(plain)) continue;
    if (macro !== undefined) {
      add("macro", macro);
    } else if (opened && opened[2] === container?.name) {
      // The same one for an older SDK, behind #else: it is there with every SDK.
      found.push({ ...(found.pop() as Declaration), sdk: undefined });
    } else if (opened) {
      add(opened[1] === "interface" ? "class" : "protocol", opened[2] ?? "");
      container = { name: opened[2] ?? "", since };
    } else if (plain === "@end") {
      container = undefined;
    } else if (container !== undefined) {
      if (plain.startsWith("@property")) add("property", lastWord(plain));
      else if (/^[-+] \(/.test(plain)) add("method", selectorOf(plain));
      else throw new Error(`unknown in ${container.name}: ${plain}`);
    } else {
      for (const { kind, name } of declared(plain)) add(kind, name);
    }
  }
  return found;
}

/** What a statement outside of classes and protocols declares. */
function declared(plain: string): readonly Pick<Declaration, "kind" | "name">[] {
  const listed = /^(?:typedef NS_(?:ENUM|OPTIONS)\(\w+, (\w+)\)|enum(?: : \w+)?) \{(.*)\}/.exec(plain);
  if (listed) {
    const names = [...(listed[2] ?? "").matchAll(/(\w+)(?: = [^,]*)?(?:,|$)/g)].map(([, name = ""]) => name);
    const type = listed[1] === undefined ? [] : [{ kind: "type" as const, name: listed[1] }];
    return [...type, ...names.map((name) => ({ kind: "enumerator" as const, name }))];
  }
  const block = /^typedef .*\(\^(\w+)\)/.exec(plain)?.[1];
  if (block !== undefined) return [{ kind: "type", name: block }];
  if (plain.startsWith("typedef ")) return [{ kind: "type", name: lastWord(plain.replace(/\[\d+\];$/, ";")) }];
  const called = /^(?:FOUNDATION_EXPORT |static inline |extern "C" )?[\w<>* ]*?\*?(\w+)\(/.exec(plain)?.[1];
  if (called !== undefined) return [{ kind: "function", name: called }];
  if (/^(?:FOUNDATION_EXPORT|extern) [\w* ]+;$/.test(plain)) return [{ kind: "constant", name: lastWord(plain) }];
  throw new Error(`unknown: ${plain}`);
}

function lastWord(plain: string): string {
  const word = /(\w+);$/.exec(plain)?.[1];
  if (word === undefined) throw new Error(`no name at the end of: ${plain}`);
  return word;
}

/** The selector of a method: its words before colons, outside of the parentheses of types. */
function selectorOf(plain: string): string {
  let outside = plain;
  for (let inner = outside.replace(/\([^()]*\)/g, ""); inner !== outside; inner = outside.replace(/\([^()]*\)/g, "")) {
    outside = inner;
  }
  const parts = [...outside.matchAll(/(\w+):/g)].map(([part]) => part);
  return parts.length > 0 ? parts.join("") : lastWord(outside);
}

/** Statements without comments, each with the SDK that its surroundings ask for. */
function statements(text: string): readonly Statement[] {
  const found: Statement[] = [];
  const guards: (number | undefined)[] = [];
  const bare = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
  let open = "";
  for (const line of bare
    .replace(/\\\n/g, " ")
    .split("\n")
    .map((whole) => whole.trim())) {
    const take = (whole: string): void => {
      found.push({ text: whole, sdk: guards.findLast((guard) => guard !== undefined) });
    };
    if (line === "" || /^(?:extern "C" \{|\}|NS_ASSUME_NONNULL_\w+)$/.test(line) || /^#(?:pragma|include)/.test(line)) {
      if (line !== "}" || open === "") continue;
    }
    if (/^#(?:if|ifdef)/.test(line)) guards.push(Number(GUARD.exec(line)?.[1] ?? Number.NaN) || undefined);
    else if (line === "#else") guards.splice(-1, 1, undefined);
    else if (line === "#endif") guards.pop();
    else if (line.startsWith("#define")) take(line);
    else {
      open = `${open} ${line}`.trim();
      const depth = [..."({["].reduce((sum, letter) => sum + open.split(letter).length - 1, 0);
      const closed = [...")}]"].reduce((sum, letter) => sum + open.split(letter).length - 1, 0);
      const header = /@(?:interface|protocol) /.test(open) && !open.endsWith(";") && !/^API_\w+\(.*\)$/.test(open);
      const ends =
        open.endsWith(";") || open === "@end" || header || (open.startsWith("static inline") && line === "}");
      if (depth === closed && ends) {
        take(open);
        open = "";
      }
    }
  }
  if (open !== "") throw new Error(`a statement has no end: ${open}`);
  return found;
}
