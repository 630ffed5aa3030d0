/** What is known of the machine that a run happens on. */
import os from "node:os";
import type { HostFacts } from "../runs/record.ts";

export function hostFacts(): HostFacts {
  const cpus = os.cpus();
  return {
    os: `${os.type()} ${os.release()}`,
    arch: process.arch,
    cpu: cpus[0]?.model.trim() || "unknown",
    cores: cpus.length,
    memoryBytes: String(os.totalmem()),
    node: process.versions.node,
  };
}
