/**
 * JSON as evidence: a stable writer and a strict reader. `JSON.parse` keeps the last of two equal keys and
 * `JSON.stringify` writes NaN as null; both would let a record say two things.
 */

/** Limits for untrusted JSON. */
export const JSON_LIMITS = { bytes: 16 * 1024 * 1024, depth: 32 } as const;

/**
 * Writes a value with sorted keys, two spaces, a final newline. Non-finite numbers become the strings `NaN`,
 * `Infinity` and `-Infinity`; `undefined` properties are left out. Throws on values that JSON cannot hold.
 */
export function stableJson(value: unknown): string {
  return `${JSON.stringify(normalise(value, "$"), null, 2)}\n`;
}

function normalise(value: unknown, path: string): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map((item, index) => normalise(item, `${path}[${index}]`));
  if (typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, normalise(item, `${path}.${key}`)]);
    return Object.fromEntries(entries);
  }
  throw new TypeError(`${path} is a ${typeof value}, which JSON cannot hold.`);
}

export class StrictJsonError extends Error {
  override readonly name = "StrictJsonError";
}

/**
 * Parses JSON and refuses what `JSON.parse` lets pass: duplicate keys, `__proto__`, integers beyond 2^53, numbers that
 * overflow, more than 32 levels and more than 16 MiB. `where` names the file in errors.
 */
export function parseStrictJson(text: string, where: string): unknown {
  if (text.length > JSON_LIMITS.bytes) {
    throw new StrictJsonError(`${where}: ${text.length} characters of JSON; the limit is ${JSON_LIMITS.bytes}.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new StrictJsonError(`${where}: not JSON (${error instanceof Error ? error.message : String(error)}).`);
  }
  scan(text, where);
  return value;
}

/** Walks the tokens of a text that is known to be valid JSON. */
function scan(text: string, where: string): void {
  const keys: (Set<string> | undefined)[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\]:,]/g;
  let pendingKey: string | undefined;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const token = match[0];
    const first = token.charAt(0);
    if (first === "{" || first === "[") {
      keys.push(first === "{" ? new Set() : undefined);
      if (keys.length > JSON_LIMITS.depth) {
        throw new StrictJsonError(`${where}: nested deeper than ${JSON_LIMITS.depth} levels.`);
      }
    } else if (first === "}" || first === "]") {
      keys.pop();
    } else if (first === '"') {
      pendingKey = token;
    } else if (first === ":" && pendingKey !== undefined) {
      const key = JSON.parse(pendingKey) as string;
      const seen = keys.at(-1);
      if (seen?.has(key)) throw new StrictJsonError(`${where}: the key "${key}" stands twice in one object.`);
      if (key === "__proto__") throw new StrictJsonError(`${where}: the key "__proto__" is not allowed.`);
      seen?.add(key);
    } else if (first === "-" || (first >= "0" && first <= "9")) {
      checkNumber(token, where);
    }
  }
}

function checkNumber(token: string, where: string): void {
  const value = Number(token);
  if (!Number.isFinite(value)) throw new StrictJsonError(`${where}: the number ${token} overflows float64.`);
  if (/^-?\d+$/.test(token) && !Number.isSafeInteger(value)) {
    throw new StrictJsonError(`${where}: the integer ${token} is beyond 2^53; write it as a string.`);
  }
}
