/** The program with a kernel of its own that is wrong: everything else is the checkout's. */
import fs from "node:fs";
import path from "node:path";
import { scratchFolder, WHERE } from "../electron/runs/harness.ts";
import { applyFault, type Fault } from "../kernels/faults.ts";

/** Copied, because the program finds its parts from where its bundles really are. */
const COPIED = ["package.json", "kernels", "out/serve.mjs", "out/host.mjs"];
const LINKED = ["native", "test/golden", "out/renderer", "out/lockstep.node", "out/lockstep-runner"];

/** Folder of a program whose kernels hold `fault`. The caller removes it. */
export function programWith(fault: Fault): string {
  const root = scratchFolder();
  for (const name of COPIED) fs.cpSync(path.join(WHERE.root, name), path.join(root, name), { recursive: true });
  for (const name of LINKED) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.symlinkSync(path.join(WHERE.root, name), path.join(root, name));
  }
  const file = path.join(root, "kernels", fault.file);
  fs.writeFileSync(file, applyFault(fault, fs.readFileSync(file, "utf8")));
  return root;
}
