/**
 * Captures the dispatches of one route on one case to a `.gputrace`: compiled and filled before, submitted once while Metal
 * captures. The host was started with `MTL_CAPTURE_ENABLED=1`; it takes no log of kernels, for the two exclude each other.
 */
import fs from "node:fs";
import path from "node:path";
import { loadAddon } from "../../native/addon.ts";
import { type Device, DeviceError } from "../../native/device.ts";
import { metalEntries } from "../../native/devices.ts";
import { openDevice } from "../../native/open.ts";
import { type CaptureEnd, type CaptureRequest, GPUTRACE } from "../captures/gputrace.ts";
import { casesFromFile } from "../cases/file.ts";
import { InputPool, materialise } from "../cases/inputs.ts";
import { suiteCases } from "../cases/suites.ts";
import { catalogueFor } from "../runs/catalogue.ts";
import { Builder, execute, WorkPool } from "../runs/execute.ts";
import { type PlannedCase, planCases, selectCases } from "../runs/plan.ts";
import { UsageError } from "../runs/usage.ts";
import { CAPTURE_ENVIRONMENT, missingEnvironment } from "../validation/environment.ts";
import { chooseDevice, chosenProfile } from "./choose.ts";
import { deviceWanted } from "./device_name.ts";
import type { CaptureProgress } from "./messages.ts";
import { refusalOf } from "./refusal.ts";
import type { Places } from "./root.ts";

/** A device whose work Metal can capture. */
interface CapturingDevice extends Device {
  /** Writes what is submitted within `work` to `file`. Rejects with `DeviceError` in Metal's words where it refuses. */
  capture<T>(file: string, work: () => Promise<T>): Promise<T>;
}

const NOTE =
  "Open it in Xcode. Times inside it are of a recording that Xcode replays: they are no timings, and it is no evidence.";

type Refused = Extract<CaptureEnd, { type: "capture_refused" }>;

function canCapture(device: Device): device is CapturingDevice {
  return "capture" in device && typeof device.capture === "function";
}

/** Resolves with the answer or the refusal. Rejects for defects of the program only. */
export async function captureRequest(
  request: CaptureRequest,
  where: Places,
  signal: AbortSignal,
  onPhase: (phase: CaptureProgress["phase"]) => void,
): Promise<CaptureEnd> {
  try {
    return await capture(request, where, signal, onPhase);
  } catch (error) {
    const refused = refusedOf(error);
    if (refused === undefined) throw error;
    return refused;
  }
}

async function capture(
  request: CaptureRequest,
  where: Places,
  signal: AbortSignal,
  onPhase: (phase: CaptureProgress["phase"]) => void,
): Promise<CaptureEnd> {
  const addon = loadAddon(where.addon);
  const asked = deviceWanted(request.device, null);
  const metal = await metalEntries(addon.metal);
  const choice = chooseDevice(asked, metal);
  if (choice.wanted.kind !== "metal") {
    return {
      type: "capture_refused",
      code: "unavailable",
      message: `Only Metal captures, and this would be on the emulated device (${choice.reasons.join("; ")})`,
      mend: "capture on a Mac; what an emulated kernel reads and writes, lockstep check --traffic tells",
    };
  }
  const profile = chosenProfile(choice, metal);
  checkTarget(request.out);
  const missing = missingEnvironment(process.env, CAPTURE_ENVIRONMENT);
  if (missing.length > 0) throw new Error(`The host was started without ${missing.join(", ")}, which captures need.`);
  const cases =
    request.inputs === null ? suiteCases(request.suite, { golden: where.golden }) : casesFromFile(request.inputs);
  const catalogue = catalogueFor(profile);
  const planned = oneItem(
    planCases(selectCases(cases, { case: request.case }), { case: request.case, route: request.route }, catalogue),
    request,
  );
  const device = await openDevice(choice.wanted, { addon, runnerPath: where.runner });
  const allocate: Device["allocate"] = (bytes, label) => device.allocate(bytes, label);
  const inputs = new InputPool(allocate);
  const work = new WorkPool(device);
  try {
    if (!canCapture(device)) throw new DeviceError("unavailable", `${device.profile.id} has no capture.`);
    const item = planned.routes[0]!;
    onPhase("inputs");
    const wanted = item.plan.buffers.filter(({ role }) => role === "input");
    const filled = await materialise(planned.case, wanted, inputs, addon);
    onPhase("compile");
    const builder = new Builder(device, (file) => fs.readFileSync(path.join(where.kernels, file), "utf8"));
    const prepared = await builder.prepare(item.plan, "fast", signal);
    onPhase("capture");
    const { bytes, files } = await captured(request.out, (onBegin) =>
      device.capture(request.out, () => {
        onBegin();
        return execute(device, prepared, filled.buffers, work, { signal });
      }),
    );
    return {
      type: "captured",
      answer: {
        path: request.out,
        bytes,
        files,
        case: planned.case.key,
        route: item.route,
        device: { id: profile.id, name: profile.name.value, chip: profile.chip.value, os: profile.os.value },
        reasons: [...choice.reasons],
        dispatches: item.plan.dispatches.map(({ stage, kernel, threadgroups, threadsPerThreadgroup }) => ({
          label: stage,
          kernel,
          threadgroups: [...threadgroups],
          threadsPerThreadgroup: [...threadsPerThreadgroup],
        })),
        note: NOTE,
      },
    };
  } finally {
    work.release();
    inputs.release();
    await device.close();
  }
}

/** Metal writes no document over another, and says little about why. Throws `UsageError`. */
function checkTarget(out: string): void {
  if (!out.endsWith(GPUTRACE)) throw new UsageError(`--out is "${out}"; a capture's name ends in ${GPUTRACE}.`);
  if (fs.existsSync(out)) throw new UsageError(`${out} is there already: name another --out.`);
  const folder = path.dirname(out);
  if (!fs.existsSync(folder)) throw new UsageError(`The folder ${folder} of --out is not there: make it first.`);
}

/** Throws `UsageError` where case and route name more than one thing. */
function oneItem(planned: readonly PlannedCase[], { case: key, route }: CaptureRequest): PlannedCase {
  const items = planned.flatMap((entry) => entry.routes.map((item) => `${entry.case.key} ${item.route}`));
  if (items.length === 1) return planned[0]!;
  const some = items.slice(0, 3).join(", ");
  throw new UsageError(
    `"${key}" and "${route}" name ${items.length} results (${some}, ...); a capture is of one: give the whole key and route.`,
  );
}

/**
 * Size of the document that `capture` writes. Where it fails or is cancelled after it began, what Metal wrote until then is taken
 * away: it would look like a capture, and stand in the way of the next.
 */
async function captured(
  document: string,
  capture: (onBegin: () => void) => Promise<unknown>,
): Promise<ReturnType<typeof sizeOf>> {
  let began = false;
  try {
    await capture(() => {
      began = true;
    });
    return sizeOf(document);
  } catch (error) {
    if (began) fs.rmSync(document, { recursive: true, force: true });
    throw error;
  }
}

/** A document is a folder; what Metal wrote in it is counted. */
function sizeOf(document: string): { readonly bytes: number; readonly files: number } {
  const stat = fs.statSync(document, { throwIfNoEntry: false });
  if (stat === undefined) {
    throw new DeviceError("unavailable", `Metal ended the capture without an error, and ${document} is not there.`);
  }
  if (stat.isFile()) return { bytes: stat.size, files: 1 };
  let bytes = 0;
  let files = 0;
  for (const entry of fs.readdirSync(document, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    bytes += fs.statSync(path.join(entry.parentPath, entry.name)).size;
    files += 1;
  }
  return { bytes, files };
}

function refusedOf(error: unknown): Refused | undefined {
  const refused = (code: Refused["code"], message: string, mend: string): Refused => ({
    type: "capture_refused",
    code,
    message,
    mend,
  });
  if (error instanceof DeviceError) {
    if (error.code === "cancelled") return refused("cancelled", "Cancelled by you", "capture again");
    if (error.code === "unavailable") return refused("unavailable", error.message, "see what lockstep devices says");
    return refused("refused", error.message, "run the same case with lockstep parity, which says more");
  }
  const refusal = refusalOf(error);
  return refusal && refused(refusal.code, refusal.message, "change the request and capture again");
}
