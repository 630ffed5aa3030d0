/** The command line: one command per action. Exit 0 passed, 1 a gate failed, 2 could not run, 130 interrupted. */
import { Command, CommanderError } from "commander";
import { COMMANDS, type Command as CommandEntry, type CommandOption } from "./actions.ts";
import { type Output, terminal } from "./cli/output.ts";
import { EXIT } from "./cli/parity.ts";
import { type CommandValues, RUN } from "./cli/run.ts";
import { refusalOf } from "./host/refusal.ts";
import { appVersion, type Places, places } from "./host/root.ts";
import { UsageError, unknownName } from "./runs/usage.ts";

const EXIT_HELP = `
Exit status: 0 if every required gate passed, 1 if one failed, 2 if it could not
run, 130 after Ctrl-C. A command that judges nothing exits 0 once it is done.`;

/** Runs a command line (without `node` and the script). Resolves with the exit code. */
export async function main(argv: readonly string[], where: Places, output: Output): Promise<number> {
  let exit: number = EXIT.couldNotRun;
  const program = new Command("lockstep")
    .description("Proves attention kernels for Apple GPUs against a float64 oracle and packs the evidence")
    .version(appVersion(where.root))
    .addHelpText("after", EXIT_HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.line(text.trimEnd()),
      // What is wrong is said once, below.
      writeErr: () => {},
    });
  for (const entry of COMMANDS) {
    const { arguments: named = [] }: CommandEntry = entry;
    const command = program.command(entry.id).description(entry.summary);
    for (const { name, description, optional } of named) {
      command.argument(optional ? `[${name}]` : `<${name}>`, description);
    }
    for (const option of entry.options) addOption(command, option);
    command.action(async () => {
      const given = Object.fromEntries(named.map(({ name }, index) => [name, command.args[index]]));
      const values: CommandValues = { ...command.opts<CommandValues>(), ...given };
      const empty = Object.entries(values).find(([, value]) => value === "")?.[0];
      if (empty !== undefined) throw new UsageError(`--${empty} is empty: give a value, or leave it out.`);
      exit = await RUN[entry.id](values, { places: where, output, argv });
    });
  }
  const json = argv.includes("--json");
  try {
    const [first] = argv;
    const known: readonly string[] = [...COMMANDS.map((entry) => entry.id), "help"];
    if (first !== undefined && !first.startsWith("-") && !known.includes(first))
      throw unknownName("command", first, known);
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" });
    return exit;
  } catch (error) {
    output.clear();
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.passed;
    const { code, message } = failureOf(error);
    if (json) output.line(JSON.stringify({ error: { code, message } }));
    if (!json || code === "internal") output.note(message);
    return EXIT.couldNotRun;
  }
}

function addOption(command: Command, { flags, description, repeatable }: CommandOption): void {
  if (repeatable !== true) command.option(flags, description);
  else command.option(flags, description, (value: string, before?: string) => (before ? `${before},${value}` : value));
}

function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof CommanderError) {
    const words = error.message.replace(/^error: /, "");
    return { code: "usage", message: `${words.charAt(0).toUpperCase()}${words.slice(1)}` };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return refusalOf(error) ?? { code: "internal", message: `This is a defect of the program: ${stack}` };
}

// The bundle is started as a program; tests import `main`.
if (process.argv[1]?.endsWith("cli.mjs")) {
  process.exitCode = await main(process.argv.slice(2), places(), terminal());
}
