/** `lockstep capture`: the dispatches of one case on a Metal device as a `.gputrace`, which Xcode opens. */
import path from "node:path";
import type { CaptureAnswer, CaptureRequest } from "../captures/gputrace.ts";
import { SUITES } from "../cases/suites.ts";
import { stableJson } from "../evidence/json.ts";
import { HostClient } from "../host/client.ts";
import type { Places } from "../host/root.ts";
import { UsageError, unknownName } from "../runs/usage.ts";
import { CAPTURE_ENVIRONMENT } from "../validation/environment.ts";
import { bytesText, counted } from "../words.ts";
import type { DeviceOptions } from "./device_options.ts";
import { onInterrupt } from "./interrupt.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export interface CaptureOptions extends DeviceOptions {
  readonly suite?: string;
  readonly inputs?: string;
  readonly case?: string;
  readonly route?: string;
  readonly out?: string;
  readonly json?: boolean;
}

/** Checks what can be checked without cases and devices. Throws `UsageError`. */
export function captureRequestOf(options: CaptureOptions): CaptureRequest {
  const { suite = "full", inputs, out } = options;
  const needed = (name: "case" | "route" | "out"): string => {
    const value = options[name];
    if (value === undefined)
      throw new UsageError(`capture needs --${name}: it captures one route on one case to a file.`);
    return value;
  };
  const found = SUITES.find((name) => name === suite);
  if (found === undefined) throw unknownName("suite", suite, SUITES);
  if (inputs !== undefined && options.suite !== undefined) {
    throw new UsageError("--inputs takes the place of --suite: give one of them.");
  }
  return {
    suite: found,
    inputs: inputs === undefined ? null : path.resolve(inputs),
    case: needed("case"),
    route: needed("route"),
    device: options.device ?? null,
    out: path.resolve(out ?? needed("out")),
  };
}

const PHASES = { inputs: "filling buffers", compile: "compiling", capture: "capturing" } as const;

/** Exit 0 captured, 2 could not, 130 interrupted. */
export async function captureCase(options: CaptureOptions, where: Places, output: Output): Promise<number> {
  const request = captureRequestOf(options);
  const host = new HostClient({ path: where.host, environment: CAPTURE_ENVIRONMENT });
  const stop = onInterrupt(host, output, EXIT.interrupted);
  try {
    const end = await host.capture(request, ({ phase }) => output.progress(PHASES[phase]));
    await host.close();
    output.clear();
    if (end.type === "captured") {
      if (options.json) output.line(stableJson(end.answer).trimEnd());
      else for (const line of answerLines(end.answer)) output.line(line);
      return EXIT.passed;
    }
    const refused = end.type === "capture_refused";
    const message = refused ? `${end.message.replace(/\.$/, "")}. Mend: ${end.mend}` : end.reason;
    if (options.json) output.line(JSON.stringify({ error: { code: refused ? end.code : "internal", message } }));
    else output.note(message);
    return refused && end.code === "cancelled" ? EXIT.interrupted : EXIT.couldNotRun;
  } finally {
    output.clear();
    stop();
  }
}

export function answerLines(answer: CaptureAnswer): readonly string[] {
  const { device } = answer;
  const width = Math.max(...answer.dispatches.map(({ label }) => label.length));
  return [
    `captured: ${answer.path}`,
    `  ${bytesText(answer.bytes)} in ${counted(answer.files, "file")}`,
    `  ${answer.case}, ${answer.route}, once`,
    ...answer.dispatches.map(
      ({ label, kernel, threadgroups, threadsPerThreadgroup }) =>
        `    ${label.padEnd(width)}  ${kernel}, ${threadgroups.join(" x ")} threadgroups of ${threadsPerThreadgroup.join(" x ")}`,
    ),
    `  on ${device.id}: ${device.name}, ${device.chip}, ${device.os}. ${answer.reasons.join("; ")}`,
    `  ${answer.note}`,
  ];
}
