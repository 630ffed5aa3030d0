/**
 * `npm run mac:accept`: everything that can only be shown on a Mac, by one command, in one bundle.
 *
 * Exit 0 if no step failed and one passed at least; 1 if a step failed; 2 where nothing ran, as on a machine without Metal: a
 * check that shows nothing must not look like one that held; 130 after Ctrl-C.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import { SUITES } from "../cases/suites.ts";
import { type Output, terminal } from "../cli/output.ts";
import { deviceWanted } from "../host/device_name.ts";
import { places } from "../host/root.ts";
import { INTERRUPTED, onInterrupt } from "../interrupt.ts";
import { shellQuote } from "../words.ts";
import { type Accepted, accept } from "./accept.ts";
import { stepNames } from "./machine.ts";
import { ACCEPTANCE_STEPS, type AcceptanceVerdict } from "./record.ts";
import { STEPS } from "./steps.ts";

const USAGE = `usage: npm run mac:accept -- [options]

Builds, tries the Metal device of this Mac in every way that the project has, and writes one bundle.

  --out DIR        folder for the bundle, or FILE.lockstep (default: evidence)
  --only A,B       these steps and what they need
  --skip A,B       leave these out
  --suite NAME     ${SUITES.join(", ")} (default: full)
  --device NAME    metal, metal:1; emulated, for the development of this command (default: metal)
  --package        package the app as well
  --json           one line of JSON at the end, nothing else on standard output
  --help

steps:
${ACCEPTANCE_STEPS.map(({ id, title }) => `  ${id.padEnd(15)}  ${title}`).join("\n")}
`;

/** Exit status of a verdict. */
const EXIT: Readonly<Record<AcceptanceVerdict, number>> = {
  accepted: 0,
  failed: 1,
  interrupted: INTERRUPTED,
  nothing_ran: 2,
};

function readOptions(argv: readonly string[]) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      out: { type: "string", default: "evidence" },
      only: { type: "string" },
      skip: { type: "string" },
      suite: { type: "string", default: "full" },
      device: { type: "string", default: "metal" },
      package: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const suite = SUITES.find((name) => name === values.suite);
  if (suite === undefined) throw new Error(`--suite is "${values.suite}"; it takes ${SUITES.join(", ")}.`);
  deviceWanted(values.device, null);
  return { ...values, suite, only: stepNames("--only", values.only), skip: stepNames("--skip", values.skip) };
}

function tell({ record, path: place, kind, broken }: Accepted, output: Output): void {
  const { device } = record;
  if (device?.execution === "emulated") {
    output.line("The device is an emulated one: this shows that the command works, and nothing about Metal or a chip");
  }
  if (device?.virtualGpu) output.line("The GPU is a virtual one, which a hypervisor lends: this supports no chip");
  for (const reason of broken) output.line(`BROKEN bundle: ${reason}`);
  if (place === null) return;
  const shown = shellQuote(path.relative(process.cwd(), place) || place);
  output.line(
    kind === "bundle" ? `bundle: ${shown}` : `no run was planned, so there is no bundle; the record: ${shown}`,
  );
  if (kind === "bundle") output.line(`verify: npm run --silent lockstep -- verify ${shown}`);
}

async function main(argv: readonly string[]): Promise<number> {
  const output = terminal();
  const given = readOptions(argv);
  if (given.help) {
    output.line(USAGE.trimEnd());
    return 0;
  }
  const where = places();
  const stop = new AbortController();
  onInterrupt(
    () => stop.abort(),
    () => process.exit(INTERRUPTED),
  );
  const accepted = await accept({
    where,
    child: path.join(where.root, "out", "accept_host.mjs"),
    steps: STEPS,
    device: given.device,
    suite: given.suite,
    packaging: given.package,
    out: given.out,
    only: given.only,
    skip: given.skip,
    command: ["npm", "run", "mac:accept", ...(argv.length > 0 ? ["--", ...argv] : [])],
    platform: process.platform,
    signal: stop.signal,
    line: (text) => (given.json ? output.note(text) : output.line(text)),
    progress: (text) => output.progress(text),
  });
  output.clear();
  if (given.json) {
    const { record, path: place, kind, broken } = accepted;
    output.line(JSON.stringify({ ...record, path: place, kind, broken }));
  } else tell(accepted, output);
  return accepted.broken.length > 0 ? 1 : EXIT[accepted.record.verdict];
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  },
);
