/** What `run` and `check` share: options to a request, the exchange with the host, and how a refusal reads. */
import path from "node:path";
import { excerpt } from "../checker/excerpt.ts";
import type { KernelAnswer, KernelProgress, KernelRequest } from "../checker/messages.ts";
import { HostClient, type KernelRunEnd } from "../host/client.ts";
import { CHECKS, deviceWanted, emulatedWanted } from "../host/device_name.ts";
import type { Places } from "../host/root.ts";
import { UsageError } from "../runs/usage.ts";
import { counted } from "../words.ts";
import { onInterrupt } from "./interrupt.ts";
import type { Output } from "./output.ts";
import { EXIT, MAX_TIMEOUT_S, MAX_WORKERS, positive } from "./parity.ts";

export interface KernelOptions {
  readonly manifest?: string;
  readonly root?: string;
  readonly set?: string;
  readonly device?: string;
  readonly chip?: string;
  readonly timeout?: string;
  readonly workers?: string;
  readonly json?: boolean;
}

/** `N=64,D=1e3` as numbers by name. Throws `UsageError`. */
function sizesOf(text: string | undefined): Readonly<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const part of (text ?? "").split(",").filter((word) => word.trim() !== "")) {
    const [, name, value] = /^\s*([A-Za-z_]\w*)\s*=\s*(\S+)\s*$/.exec(part) ?? [];
    const number = Number(value);
    if (name === undefined || !Number.isFinite(number)) {
      throw new UsageError(`--set is "${part}"; it takes NAME=NUMBER, as in --set N=64,D=128.`);
    }
    if (Object.hasOwn(sizes, name)) throw new UsageError(`--set names ${name} twice: give it one value.`);
    sizes[name] = number;
  }
  return sizes;
}

/** Checks what can be checked without the manifest. Throws `UsageError`. */
export function kernelRequestOf(
  options: KernelOptions,
  purpose: KernelRequest["purpose"],
  flavour: KernelRequest["flavour"],
): KernelRequest {
  const timeout = positive("--timeout", options.timeout, MAX_TIMEOUT_S, false);
  // What is wrong with a name is said before a host starts.
  if (purpose === "check") emulatedWanted(options.device ?? null, options.chip ?? null, CHECKS);
  else deviceWanted(options.device ?? null, options.chip ?? null);
  return {
    from: {
      kind: "file",
      path: path.resolve(String(options.manifest)),
      root: options.root === undefined ? null : path.resolve(options.root),
    },
    purpose,
    flavour,
    sizes: sizesOf(options.set),
    device: options.device ?? null,
    chip: options.chip ?? null,
    timeoutMs: timeout === null ? null : timeout * 1000,
    workers: positive("--workers", options.workers, MAX_WORKERS, true),
  };
}

const PHASES: Readonly<Record<KernelProgress["phase"], string>> = {
  compile: "compiling",
  run: "running",
  repeat: "running again",
  oracle: "comparing with the oracle",
};

/** Lets the host do it. The first Ctrl-C cancels in order, the second ends at once. */
export async function askHost(request: KernelRequest, where: Places, output: Output): Promise<KernelRunEnd> {
  const host = new HostClient({ path: where.host });
  const stop = onInterrupt(host, output, EXIT.interrupted);
  try {
    const end = await host.kernel(request, ({ flavour, phase, dispatch, fraction }) => {
      const percent = fraction === null ? "" : ` ${Math.floor(fraction * 100)} %`;
      output.progress(`${flavour}: ${PHASES[phase]}${dispatch === null ? "" : ` ${dispatch}`}${percent}`);
    });
    await host.close();
    return end;
  } finally {
    output.clear();
    stop();
  }
}

/** Says why there is no answer, with the compiler's places in the source. Returns the exit code. */
export function sayRefusal(
  end: Exclude<KernelRunEnd, { type: "kernel_ended" }>,
  json: boolean | undefined,
  output: Output,
): number {
  const refused = end.type === "kernel_refused";
  const message = refused ? end.message : end.reason;
  const diagnostics = refused ? end.diagnostics : [];
  if (json) {
    const code = refused ? end.code : "internal";
    output.line(JSON.stringify({ error: { code, message, diagnostics } }));
  } else if (diagnostics.length === 0) {
    output.note(message);
  } else {
    const texts = new Map(refused ? end.texts.map(({ path: name, text }) => [name, text] as const) : []);
    for (const diagnostic of diagnostics) {
      const { path: name, line, column, severity, message: words } = diagnostic;
      output.note(`${name}:${line}:${column}: ${severity}: ${words}`);
      for (const text of excerpt(texts, diagnostic)) output.note(`  ${text}`);
    }
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    output.note(`Not run: the kernel does not compile (${counted(errors, "error")})`);
  }
  return refused && end.code === "cancelled" ? EXIT.interrupted : EXIT.couldNotRun;
}

/** What ran, where, and what that is no evidence of. */
export function answerHead(answer: KernelAnswer): readonly string[] {
  const { project, device } = answer;
  const commit = project?.commit ? ` at ${project.commit.slice(0, 12)}` : "";
  const sizes = Object.entries(answer.sizes).map(([name, value]) => `${name} ${value}`);
  return [
    answer.name,
    `  source     ${answer.source}${project === null ? "" : ` of ${project.name}${commit}`}`,
    ...(sizes.length === 0 ? [] : [`  sizes      ${sizes.join(", ")}`]),
    `  ${device.text}`,
    `  device     ${device.id}: ${device.reasons.join("; ")}`,
    ...(device.checkedOn === null || device.checkedOn === device.id
      ? []
      : [`  checker    on ${device.checkedOn}: it looks at every access, which only the emulated device can`]),
    ...(answer.rights === null ? [] : [`  kernel     ${answer.rights}`]),
  ];
}
