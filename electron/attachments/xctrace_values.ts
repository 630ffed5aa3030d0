/**
 * The values that an export gives a number (`id`) where they first stand and names by it (`ref`) afterwards. Numbers are given
 * in the order of the document, so that pages of float64 hold them: nine bytes a value, however many rows there are.
 */
const PAGE = 1 << 16;

export const MOST_IDS = 1 << 24;
export const MOST_TEXT = 32 * 1024 ** 2;

interface Page {
  readonly codes: Uint8Array;
  readonly values: Float64Array;
}

export class ValueTable {
  readonly #pages: (Page | undefined)[] = [];
  readonly #texts: string[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #refuse: (words: string) => never;
  #characters = 0;

  /** `refuse` gets words without the line and throws. */
  constructor(refuse: (words: string) => never) {
    this.#refuse = refuse;
  }

  /** Index of a text, kept once however often it stands. */
  keep(text: string): number {
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    this.#characters += text.length;
    if (this.#characters > MOST_TEXT) {
      this.#refuse(`more than ${MOST_TEXT.toLocaleString("en-US")} characters of different texts: export fewer tables`);
    }
    const index = this.#texts.length;
    this.#texts.push(text);
    this.#indexes.set(text, index);
    return index;
  }

  text(index: number): string {
    return this.#texts[index]!;
  }

  set(given: string, code: number, value: number): void {
    const id = this.#number(given, "id");
    const page = this.#page(id, true)!;
    const at = id % PAGE;
    if (page.codes[at] !== 0) this.#refuse(`id ${id} is given twice`);
    page.codes[at] = code;
    page.values[at] = value;
  }

  /** The value of an id with the code of its element. Refuses what was not given before, or was given to another element. */
  get(given: string, code: number, tag: string): number {
    const id = this.#number(given, "ref");
    const page = this.#page(id, false);
    const found = page?.codes[id % PAGE] ?? 0;
    if (found === 0) this.#refuse(`<${tag}> refers to id ${id}, which no value before it has`);
    if (found !== code) this.#refuse(`<${tag}> refers to id ${id}, which is the value of another element`);
    return page!.values[id % PAGE]!;
  }

  #number(given: string, what: string): number {
    const id = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
    if (!(id < MOST_IDS)) {
      this.#refuse(
        `${what} "${given.slice(0, 40)}" is no number below ${MOST_IDS.toLocaleString("en-US")}: export fewer tables`,
      );
    }
    return id;
  }

  #page(id: number, make: boolean): Page | undefined {
    const index = Math.floor(id / PAGE);
    const known = this.#pages[index];
    if (known !== undefined || !make) return known;
    const page: Page = { codes: new Uint8Array(PAGE), values: new Float64Array(PAGE) };
    this.#pages[index] = page;
    return page;
  }
}
