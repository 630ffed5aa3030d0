/** The kernel sources that a window may read: those below `kernels/`, by a list made from the folder, never by any path. */
import fs from "node:fs";
import path from "node:path";
import { OPERATORS, routesFor } from "../../kernels/routes.ts";
import type { CallOutput } from "../contract.ts";
import { kernelFiles } from "../host/root.ts";
import { WorkbenchError } from "./failure.ts";

export function listKernels(root: string): CallOutput<"kernels.list"> {
  const routes = OPERATORS.flatMap((operator) =>
    routesFor(operator).map(({ name, summary, status }) => ({ operator, name, summary, status })),
  );
  return { routes, files: kernelFiles(root) };
}

export function kernelSource(root: string, file: string): CallOutput<"kernels.source"> {
  if (!kernelFiles(root).includes(file)) {
    throw new WorkbenchError(`There is no kernel source "${file}"`, "take a path of kernels.list");
  }
  return { path: file, text: fs.readFileSync(path.join(root, file), "utf8") };
}
