/** Results of a campaign as lines for the terminal and as a table for the documents. */
import { counted } from "../words.ts";
import type { MutantResult } from "./campaign.ts";

function fateWords({ fate }: MutantResult): string {
  switch (fate.state) {
    case "caught":
      return fate.what.replace(/\s+/g, " ");
    case "survived":
      return "SURVIVED";
    case "equivalent":
      return `equivalent: ${fate.reason}`;
  }
}

/** `caught  barrier_removed  gqa_decode/decode.h:64  race at ...`. */
export function mutantLine(result: MutantResult): string {
  const { mutant, fate } = result;
  const state = fate.state === "caught" ? fate.by : fate.state;
  return `${state.padEnd(10)} ${mutant.class.padEnd(16)} ${`${mutant.file}:${mutant.line}`.padEnd(38)} ${mutant.was} => ${mutant.now === "" ? "nothing" : mutant.now}\n           ${fateWords(result).slice(0, 200)}${fate.state === "caught" ? ` (${fate.where})` : ""}`;
}

/** `117 mutants: 104 caught (60 by gates, 40 by reports, 4 refused), 13 equivalent, 0 survived, in 312 s`. */
export function summaryLine(results: readonly MutantResult[], seconds: number): string {
  const states = (state: string): number => results.filter(({ fate }) => fate.state === state).length;
  const by = (kind: string): number => results.filter(({ fate }) => fate.state === "caught" && fate.by === kind).length;
  return (
    `${counted(results.length, "mutant")}: ${states("caught")} caught (${by("gate")} by gates, ${by("report")} by reports, ` +
    `${by("refusal")} refused or stopped), ${states("equivalent")} equivalent, ${states("survived")} survived, in ${seconds.toFixed(0)} s`
  );
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

const INTRODUCTION = `# Mutants

\`lockstep mutate --table docs/mutants.md\` writes this page. It plants one fault at a time in the project's own kernels, runs
the checker on the small case of every set of pipelines and the gates on a few trial cases
(\`electron/mutation/trial.ts\`), and says what caught it. The clean kernels go first and must be silent. Mutants are every
barrier removed, every guard dropped (\`sites.ts\`), and mistakes with a meaning (\`planted.ts\`). *Caught by* names the
gates that failed on the first case that showed the fault, the first report of the checker at error level, or the device's
own words where the kernel did not complete. Exit 0 means that nothing survived; continuous integration runs a seeded tenth.
`;

/** The page: a row a mutant, then the equivalent ones with their reasons. */
export function mutantTable(results: readonly MutantResult[]): string {
  const row = (result: MutantResult): string => {
    const { mutant } = result;
    return `| ${mutant.class} | ${mutant.file}:${mutant.line} | ${cell(mutant.what)} | ${cell(fateWords(result).slice(0, 160))} |`;
  };
  const counting = results.filter(({ fate }) => fate.state !== "equivalent");
  const equivalent = results.filter(({ fate }) => fate.state === "equivalent");
  return [
    INTRODUCTION,
    "| class | place | mistake | caught by |",
    "| --- | --- | --- | --- |",
    ...counting.map(row),
    "",
    "Equivalent, not counted:",
    "",
    "| class | place | mistake | reason |",
    "| --- | --- | --- | --- |",
    ...equivalent.map(row),
    "",
  ].join("\n");
}
