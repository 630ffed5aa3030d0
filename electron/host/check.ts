/** Compiles the kernels of a route and says what the compiler said; nothing is run. */
import fs from "node:fs";
import path from "node:path";
import type { RoutePlan } from "../../kernels/route.ts";
import { findRoute } from "../../kernels/routes.ts";
import type { Addon } from "../../native/addon.ts";
import { type Device, DeviceError, type Diagnostic, type MetalSource } from "../../native/device.ts";
import { openEmulatedDevice } from "../../native/emulator/open.ts";
import type { CheckAnswer, CheckRequest } from "../analysis/check_messages.ts";
import { InspectError } from "../analysis/messages.ts";
import { UsageError } from "../runs/usage.ts";
import { emulatedWanted } from "./device_name.ts";
import type { Places } from "./root.ts";

/** Throws InspectError where the route or the chip does not exist, the shape has no plan, or no device can be opened. */
export async function checkKernels(
  { route, shape, chip }: CheckRequest,
  where: Places,
  addon: () => Addon,
): Promise<CheckAnswer> {
  const plan = planOf(route, shape);
  const device = await open(chip, where, addon);
  try {
    return await checkOn(device, plan, where.kernels);
  } finally {
    await device.close();
  }
}

function planOf(route: string, shape: CheckRequest["shape"]): RoutePlan {
  try {
    return findRoute(shape.operator, route).plan(shape);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InspectError("usage", error.message, "take a route that is built, and a shape that it takes");
  }
}

async function open(chip: string | null, where: Places, addon: () => Addon): Promise<Device> {
  try {
    const { chip: wanted } = emulatedWanted(null, chip, "Kernels are compiled");
    return await openEmulatedDevice({
      addon: addon(),
      runnerPath: where.runner,
      ...(wanted === undefined ? {} : { chip: wanted }),
    });
  } catch (error) {
    if (error instanceof UsageError) throw new InspectError("usage", error.message, "take a chip of the chip table");
    if (error instanceof DeviceError)
      throw new InspectError("io", error.message, "lockstep devices says what is missing");
    throw error;
  }
}

function sameMessage(a: Diagnostic, b: Diagnostic): boolean {
  return a.path === b.path && a.line === b.line && a.column === b.column && a.message === b.message;
}

/** Every kernel is built even where one before it failed: all that is wrong is said at once. */
async function checkOn(device: Device, plan: RoutePlan, kernels: string): Promise<CheckAnswer> {
  const source = (file: string): MetalSource => ({
    path: file,
    text: fs.readFileSync(path.join(kernels, file), "utf8"),
  });
  const diagnostics: Diagnostic[] = [];
  const refusals: string[] = [];
  const pipelines: CheckAnswer["pipelines"] = [];
  const say = (found: readonly Diagnostic[]): void => {
    for (const one of found) if (!diagnostics.some((known) => sameMessage(known, one))) diagnostics.push(one);
  };
  const keep = (error: unknown): void => {
    if (!(error instanceof DeviceError)) throw error;
    say(error.diagnostics);
    if (error.diagnostics.length === 0) refusals.push(error.message);
  };
  try {
    const library = await device.compile(source(plan.source), {
      defines: plan.defines,
      includes: plan.includes.map(source),
      mathMode: "safe",
    });
    say(library.warnings);
    for (const kernel of new Set(plan.dispatches.map((dispatch) => dispatch.kernel))) {
      try {
        const { receipt } = await device.pipeline(library, kernel);
        pipelines.push({
          kernel,
          staticThreadgroupBytes: receipt.staticThreadgroupMemoryBytes.value,
          maxThreads: receipt.maxTotalThreadsPerThreadgroup.value,
          ms: receipt.compileMs,
          cached: receipt.cached,
        });
      } catch (error) {
        keep(error);
      }
    }
  } catch (error) {
    keep(error);
  }
  return {
    device: device.profile.id,
    toolchain: device.profile.toolchain.value,
    files: [plan.source, ...plan.includes],
    pipelines,
    diagnostics,
    refusal: refusals.length === 0 ? null : [...new Set(refusals)].join("; "),
  };
}
