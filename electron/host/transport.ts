/**
 * A host process as its door sees it, whichever way it was started: forked by Node (`forked.ts`), or as a utility process by
 * the desktop shell (`electron/shell/utility_host.ts`). `door.ts` is the other end.
 */
import type { ToHost } from "./messages.ts";

export interface HostProcess {
  /** Undefined until the system has given it one. */
  readonly pid: number | undefined;
  /** False once it has ended or its channel is closed. */
  readonly open: boolean;
  /** Sends a message. Does nothing once it is no longer open. */
  send(message: ToHost): void;
  /** What it says, in order. Each of these returns what stops listening. */
  onMessage(then: (message: unknown) => void): () => void;
  /** Text of its standard error. */
  onLog(then: (text: string) => void): () => void;
  /** Resolves when its standard error has come to its end: after the process itself, whose last words lie in the pipe. */
  drained(): Promise<void>;
  /** Called once with the process id; not called where `pid` is known from the start. */
  onPid(then: (pid: number) => void): () => void;
  /** Called once, when it has ended: `by SIGKILL`, `with exit code 70`, `before it could be reached: ...`. */
  onEnd(then: (how: string) => void): () => void;
  /** Ends it at once. */
  kill(): void;
  /** Asks it to end in order. */
  release(): void;
}

/** Variables that are set for the host beside those of this process. */
export type HostEnvironment = Readonly<Record<string, string>>;

/** Starts the bundled host at `path` and returns at once. */
export type StartHost = (path: string, environment?: HostEnvironment) => HostProcess;
