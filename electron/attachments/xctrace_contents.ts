/** The table of contents of a trace (`xctrace export --toc`): what it says of the recording, and which tables there are. */
import { type AttachedTable, keptText } from "./attachment.ts";

/** Elements of the summary of a run, and how they are called. */
const SUMMARY: Readonly<Record<string, string>> = {
  "start-date": "recording began",
  duration: "recorded seconds",
  "template-name": "template",
  "recording-mode": "recording mode",
};

const MOST_FACTS = 40;
const MOST_TABLES = 512;

type Attributes = Readonly<Record<string, string>>;

export class Contents {
  readonly facts: { label: string; value: string }[] = [];
  readonly tables: AttachedTable[] = [];
  version: string | null = null;
  #run = "";

  open(path: readonly string[], attributes: Attributes, refuse: (words: string) => never): void {
    const [, run, section, group, name] = path;
    if (path.length === 2 && run === "run") this.#run = attributes.number ?? "";
    // Run, info, target: the process of a trace, not the hundreds that ran beside it.
    if (path.length === 5 && section === "info" && group === "target" && (name === "device" || name === "process")) {
      this.#fact(name, name === "device" ? deviceText(attributes) : processText(attributes));
    }
    if (path.length === 4 && section === "data" && group === "table") {
      if (this.tables.length === MOST_TABLES) refuse(`more than ${MOST_TABLES} tables`);
      this.tables.push({
        name: keptText(attributes.schema ?? "no schema", 200),
        place: `run ${keptText(this.#run, 20)}`,
        rows: 0,
        columns: [],
        read: null,
        reason: "listed in the table of contents: export it for its values",
      });
    }
  }

  close(path: readonly string[], text: string): void {
    const [, , section, group, name] = path;
    if (path.length !== 5 || section !== "info" || group !== "summary" || name === undefined) return;
    if (name === "instruments-version") this.version ??= keptText(text, 200);
    const label = SUMMARY[name];
    if (label !== undefined) this.#fact(label, text);
  }

  #fact(label: string, value: string): void {
    const kept = keptText(value);
    const named = this.#run === "" || this.#run === "1" ? label : `run ${keptText(this.#run, 20)}, ${label}`;
    if (kept !== "" && this.facts.length < MOST_FACTS) this.facts.push({ label: named, value: kept });
  }
}

function deviceText(given: Attributes): string {
  return [given.model ?? given.name, given.platform, given["os-version"]]
    .filter((word) => word !== undefined)
    .join(", ");
}

/** Without its arguments and environment, which are nobody's business here. */
function processText(given: Attributes): string {
  return `${given.name ?? "unnamed"}${given.pid === undefined ? "" : ` (${given.pid})`}`;
}
