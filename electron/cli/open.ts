/** `lockstep open BUNDLE`: the window's server with a bundle opened in it. Ends with the server. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Places } from "../host/root.ts";
import { UsageError } from "../runs/usage.ts";
import { EXIT } from "./parity.ts";

export interface OpenOptions {
  readonly evidence?: string;
}

export function openWindow(bundle: string, options: OpenOptions, where: Places): Promise<number> {
  if (!fs.existsSync(bundle)) {
    throw new UsageError(`${bundle} is not there: give the folder of a bundle, or a zip of it.`);
  }
  const words = ["--open", path.resolve(bundle), "--evidence", options.evidence ?? "evidence"];
  const server = spawn(process.execPath, [path.join(path.dirname(where.host), "serve.mjs"), ...words], {
    stdio: "inherit",
  });
  // Ctrl-C reaches the server by itself; it ends in order.
  const wait = (): void => undefined;
  process.on("SIGINT", wait);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", (code) => {
      process.off("SIGINT", wait);
      resolve(code ?? EXIT.couldNotRun);
    });
  });
}
