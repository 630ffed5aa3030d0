/**
 * Reads what `xctrace export` writes, as it comes: bounded memory, however large the export is. A row is as many elements as
 * the schema has columns, in their order; a value that was given an `id` is referred to by `ref` from then on; `<sentinel/>`
 * stands where a column has none. Document types are refused, so that no entity can be declared.
 */
import { SaxesParser, type SaxesTagPlain } from "saxes";
import { type AttachedTable, AttachmentError, type AttachmentSummary, keptText } from "./attachment.ts";
import { SeriesStore } from "./series.ts";
import { Contents } from "./xctrace_contents.ts";
import { type OpenTable, RowReader } from "./xctrace_rows.ts";
import { COUNTER_TABLE, columnsRead, XCTRACE_TABLES } from "./xctrace_tables.ts";
import { ValueTable } from "./xctrace_values.ts";

interface Schema {
  readonly name: string;
  readonly columns: { mnemonic: string; type: string }[];
}

const LIMITS = { depth: 32, columns: 256, tables: 512, elementCharacters: 1 << 20 } as const;

export class XctraceReader {
  readonly #name: string;
  readonly #parser = new SaxesParser({ xmlns: false, position: true });
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  readonly #values = new ValueTable((words) => this.#refuse(words));
  readonly #series = new SeriesStore((words) => this.#refuse(`${words}: export fewer tables, or a shorter time`));
  readonly #rows = new RowReader(this.#values, this.#series, (words) => this.#refuse(words));
  readonly #contents = new Contents();
  readonly #tables: (AttachedTable & { rows: number })[] = [];
  readonly #stack: string[] = [];
  #root: "trace-query-result" | "trace-toc" | null = null;
  #text = "";
  #place: string | null = null;
  /** Of the node at hand; null until its schema has come. */
  #table: OpenTable | null = null;
  /** The last schema, for a node that brings none. */
  #before: { readonly schema: string; readonly columns: OpenTable["columns"] } | null = null;
  #schemas = new Set<string>();
  #schema: Schema | null = null;
  /** Characters up to the last element or text that ended. */
  #settled = 0;
  #rowStart = 0;
  /** Kept from the parser: an error inside one of its handlers leaves it where it was. */
  #failed: AttachmentError | undefined;

  /** `name` is the file's, for messages. */
  constructor(name: string) {
    this.#name = name;
    const parser = this.#parser;
    parser.on("error", (error) =>
      this.#refuse(`no XML: ${error.message.replace(/^\d+:\d+: /, "").replace(/\.$/, "")}`),
    );
    parser.on("doctype", () => this.#refuse("a document type; exports have none, and entities are not taken"));
    parser.on("xmldecl", ({ encoding }) => {
      if (encoding !== undefined && !/^utf-?8$/i.test(encoding))
        this.#refuse(`encoding ${encoding}; UTF-8 is expected`);
    });
    parser.on("opentag", (tag) => this.#open(tag));
    parser.on("text", (text) => this.#add(text));
    parser.on("cdata", (text) => this.#add(text));
    parser.on("closetag", (tag) => this.#close(tag));
  }

  /** Takes the next bytes of the file. Throws AttachmentError, with the line, for what is no export. */
  write(bytes: Uint8Array): void {
    this.#parser.write(this.#decode(bytes, true));
    if (this.#parser.position - this.#settled > LIMITS.elementCharacters) {
      this.#refuse(`more than ${LIMITS.elementCharacters.toLocaleString("en-US")} characters without an element`);
    }
  }

  /** The file has come whole. Throws AttachmentError where it has not, or holds nothing of an export. */
  end(): AttachmentSummary {
    this.#parser.write(this.#decode(new Uint8Array(), false));
    if (this.#stack.length > 0) this.#refuse(`the file ends within <${this.#stack.at(-1)}>`);
    this.#parser.close();
    if (this.#root === null) this.#refuse("no element; a trace-query-result is expected");
    const { facts, version, tables: listed } = this.#contents;
    const tables = this.#root === "trace-toc" ? listed : this.#tables;
    if (tables.length === 0) this.#refuse("no table: the --xpath of the export found nothing in the trace");
    const { series, left } = this.#series.end();
    return {
      tool: { name: "xctrace", version },
      facts,
      tables,
      series: this.#rows.named(series),
      left,
      notes: this.#notes(left),
    };
  }

  #notes(left: number): string[] {
    const notes: string[] = [];
    if (this.#root === "trace-toc") {
      notes.push(
        "A table of contents: it says what the trace holds, and no value. It may hold the environment of the process",
      );
    } else {
      notes.push(
        "An export of tables does not state the version of Instruments: attach the table of contents for it (--toc)",
      );
    }
    notes.push(...this.#rows.notes());
    if (left > 0) notes.push(`${left.toLocaleString("en-US")} further labels are not listed`);
    return notes;
  }

  #decode(bytes: Uint8Array, stream: boolean): string {
    try {
      return this.#decoder.decode(bytes, { stream });
    } catch {
      return this.#refuse("bytes that are no UTF-8");
    }
  }

  #refuse(words: string): never {
    this.#failed ??= new AttachmentError(`${this.#name}, line ${this.#parser.line}: ${words}`);
    throw this.#failed;
  }

  #add(text: string): void {
    this.#settled = this.#parser.position;
    if (this.#rows.open) this.#rows.text(text);
    else this.#text = text;
  }

  #open({ name, attributes }: SaxesTagPlain): void {
    this.#settled = this.#parser.position;
    this.#stack.push(name);
    this.#text = "";
    const depth = this.#stack.length;
    if (depth > LIMITS.depth) this.#refuse(`<${name}> is ${depth} deep; the limit is ${LIMITS.depth}`);
    if (depth === 1) {
      if (name !== "trace-query-result" && name !== "trace-toc") {
        this.#refuse(`<${keptText(name, 60)}>; <trace-query-result> of xctrace export is expected`);
      }
      this.#root = name;
    } else if (this.#root === "trace-toc") {
      this.#contents.open(this.#stack, attributes, (words) => this.#refuse(words));
    } else if (this.#rows.open) {
      this.#rows.element(name, attributes);
      if (this.#parser.position - this.#rowStart > LIMITS.elementCharacters) {
        this.#refuse(`a row of more than ${LIMITS.elementCharacters.toLocaleString("en-US")} characters`);
      }
    } else this.#structure(name, attributes, depth);
  }

  #structure(name: string, attributes: Readonly<Record<string, string>>, depth: number): void {
    if (depth === 2 && name === "node") {
      this.#place = attributes.xpath === undefined ? null : keptText(attributes.xpath);
      this.#table = null;
    } else if (depth === 3 && name === "schema") {
      if (this.#table !== null) this.#refuse("a second schema in one node");
      if (attributes.name === undefined) this.#refuse("a schema without a name");
      this.#schema = { name: keptText(attributes.name, 200), columns: [] };
    } else if (depth === 4 && name === "col" && this.#schema !== null) {
      if (this.#schema.columns.length === LIMITS.columns) this.#refuse(`more than ${LIMITS.columns} columns`);
      this.#schema.columns.push({ mnemonic: "", type: "" });
    } else if (depth === 3 && name === "row") {
      this.#table ??= this.#inherited();
      this.#tables[this.#table.index]!.rows += 1;
      this.#rowStart = this.#parser.position;
      this.#rows.begin(this.#table);
    } else if (depth < 4)
      this.#refuse(`<${keptText(name, 60)}>; ${depth === 2 ? "a node" : "a schema or a row"} is expected`);
  }

  #close({ name }: SaxesTagPlain): void {
    this.#settled = this.#parser.position;
    this.#stack.pop();
    const depth = this.#stack.length;
    if (this.#root === "trace-toc") {
      this.#contents.close([...this.#stack, name], this.#text);
    } else if (this.#rows.open) {
      if (depth === 2) this.#rows.end();
      else this.#rows.close(depth - 3);
    } else if (this.#schema !== null) {
      const column = this.#schema.columns.at(-1);
      const text = keptText(this.#text, 200);
      if (name === "mnemonic" && column !== undefined) column.mnemonic = text;
      if (name === "engineering-type" && column !== undefined) column.type = text;
      if (name === "schema") this.#begin(this.#schema);
    }
    this.#text = "";
  }

  #begin({ name, columns }: Schema): void {
    const unnamed = columns.findIndex((column) => column.mnemonic === "");
    if (columns.length === 0 || unnamed >= 0) this.#refuse(`column ${unnamed + 1} of ${name} has no mnemonic`);
    this.#schema = null;
    this.#schemas.add(name);
    this.#before = { schema: name, columns };
    this.#table = this.#openTable(name, columns);
  }

  /** A second node of one schema may leave its columns out; after two different ones it would not be known whose they are. */
  #inherited(): OpenTable {
    if (this.#before === null || this.#schemas.size > 1) {
      this.#refuse(`a row without the schema of its table${this.#schemas.size > 1 ? ", after those of several" : ""}`);
    }
    return this.#openTable(this.#before.schema, this.#before.columns);
  }

  #openTable(schema: string, columns: OpenTable["columns"]): OpenTable {
    const index = this.#tables.length;
    if (index === LIMITS.tables) this.#refuse(`more than ${LIMITS.tables} tables`);
    const spec = XCTRACE_TABLES.find((entry) => entry.schema === schema) ?? null;
    const names = columns.map((column) => column.mnemonic);
    const missing = spec === null ? undefined : columnsRead(spec).find((name) => !names.includes(name));
    const counters = schema === COUNTER_TABLE.schema;
    this.#tables.push({
      name: schema,
      place: this.#place,
      rows: 0,
      columns: names,
      read: missing === undefined ? (spec?.read ?? (counters ? "names of the counters" : null)) : null,
      reason:
        missing !== undefined
          ? `this version has no column ${missing}`
          : spec === null && !counters
            ? "holds no GPU work that is read here"
            : null,
    });
    return { index, columns, spec: missing === undefined ? spec : null, counters };
  }
}
