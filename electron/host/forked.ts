/** The host as a child that Node forks: the way of the command line and of the window in a browser. */
import { fork } from "node:child_process";
import { hostEnvironment } from "./host_environment.ts";
import { streamEnd } from "./stream_end.ts";
import type { HostEnvironment, HostProcess } from "./transport.ts";

export function forkHost(path: string, environment: HostEnvironment = {}): HostProcess {
  const child = fork(path, [], {
    env: hostEnvironment(environment),
    // Keeps NaN and infinities, which JSON would turn into null.
    serialization: "advanced",
    // A process group of its own: Ctrl-C reaches the door alone, which then cancels in order.
    detached: true,
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  child.stderr?.setEncoding("utf8");
  const drained = streamEnd(child.stderr);
  let ended: string | undefined;
  const enders = new Set<(how: string) => void>();
  const end = (how: string): void => {
    if (ended !== undefined) return;
    ended = how;
    for (const then of enders) then(how);
    enders.clear();
  };
  child.once("exit", (code, signal) => end(signal === null ? `with exit code ${code}` : `by ${signal}`));
  child.on("error", (error) => {
    end(`before it could be reached: ${error.message}`);
    child.kill("SIGKILL");
  });
  return {
    get pid() {
      return child.pid;
    },
    get open() {
      return ended === undefined && child.connected;
    },
    send: (message) => {
      if (ended === undefined && child.connected) child.send(message);
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
    onPid: () => () => undefined,
    onEnd: (then) => {
      if (ended === undefined) enders.add(then);
      else then(ended);
      return () => enders.delete(then);
    },
    kill: () => void child.kill("SIGKILL"),
    release: () => {
      if (child.connected) child.disconnect();
    },
  };
}
