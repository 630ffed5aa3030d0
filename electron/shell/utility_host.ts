/** The host as a utility process of the desktop app: there the fuse RunAsNode is off, so that Node cannot fork. */
import { utilityProcess } from "electron";
import { hostEnvironment } from "../host/host_environment.ts";
import { streamEnd } from "../host/stream_end.ts";
import type { HostEnvironment, HostProcess } from "../host/transport.ts";

/** Name of the process in the system's and Electron's lists. */
const HOST_SERVICE = "lockstep-device-host";

/** A host that does not leave within this time, when it is let go, is killed: it may be in the middle of a computation. */
const LEAVE_MS = 4000;

export function utilityHost(path: string, environment: HostEnvironment = {}): HostProcess {
  // Only our own, signed addon is loaded there; what was compiled just now is loaded by the runner, a program of its own. So
  // `allowLoadingUnsignedLibraries` stays off.
  const child = utilityProcess.fork(path, [], {
    serviceName: HOST_SERVICE,
    stdio: ["ignore", "ignore", "pipe"],
    env: hostEnvironment(environment),
  });
  child.stderr?.setEncoding("utf8");
  const drained = streamEnd(child.stderr);
  let ended: string | undefined;
  let released = false;
  let killed = false;
  let limit: NodeJS.Timeout | undefined;
  const enders = new Set<(how: string) => void>();
  const kill = (): void => {
    killed = true;
    // `child.kill` is SIGTERM, which a process in the middle of a computation may not see.
    if (child.pid === undefined || !signal(child.pid)) child.kill();
  };
  child.once("exit", (code) => {
    clearTimeout(limit);
    ended = killed ? "by SIGKILL" : `with exit code ${code}`;
    for (const then of enders) then(ended);
    enders.clear();
  });
  return {
    get pid() {
      return child.pid;
    },
    get open() {
      return ended === undefined && !released;
    },
    send: (message) => {
      if (ended === undefined && !released) child.postMessage(message);
    },
    onMessage: (then) => {
      child.on("message", then);
      return () => child.off("message", then);
    },
    onLog: (then) => {
      child.stderr?.on("data", then);
      return () => child.stderr?.off("data", then);
    },
    drained: () => drained,
    onPid: (then) => {
      if (child.pid !== undefined) return () => undefined;
      const onSpawn = (): void => {
        if (child.pid !== undefined) then(child.pid);
      };
      child.once("spawn", onSpawn);
      return () => child.off("spawn", onSpawn);
    },
    onEnd: (then) => {
      if (ended === undefined) enders.add(then);
      else then(ended);
      return () => enders.delete(then);
    },
    kill,
    release: () => {
      if (released || ended !== undefined) return;
      released = true;
      child.kill();
      limit = setTimeout(kill, LEAVE_MS);
    },
  };
}

function signal(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
