/**
 * The way from this window to its workbench: the port that the desktop's shell hands over, or a WebSocket to the server that
 * served the page.
 */
import { connect, type Workbench } from "../electron/contract/connect.ts";
import { portChannel } from "../electron/contract/port.ts";
import { PORT_MESSAGE, SHELL_NAME, type WindowShell } from "../electron/contract/shell.ts";
import { socketChannel } from "../electron/contract/socket.ts";
import { type Channel, RemoteError } from "../electron/contract/wire.ts";

/** As in `electron/serve.ts`, which the window cannot import. */
const SOCKET_PATH = "/contract";
const PROTOCOL = "lockstep";
const TOKEN_PREFIX = "token.";

/** A reload must find the token again: the fragment is taken away at once, so that it stays in no history. */
const STORED = "lockstep.token";

function takeToken(): string {
  const match = /^#token=([A-Za-z0-9_-]+)$/.exec(location.hash);
  if (match?.[1] === undefined) return sessionStorage.getItem(STORED) ?? "";
  sessionStorage.setItem(STORED, match[1]);
  history.replaceState(null, "", location.pathname);
  return match[1];
}

function opened(socket: WebSocket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.addEventListener("open", () => resolve(true), { once: true });
    socket.addEventListener("error", () => resolve(false), { once: true });
  });
}

/** A browser does not say why a WebSocket was refused; that the page's server still answers narrows it down. */
async function whyRefused(): Promise<RemoteError> {
  const there = await fetch("./", { method: "HEAD" }).then(
    () => true,
    () => false,
  );
  return there
    ? new RemoteError({
        name: "TokenRefused",
        message: "The workbench refused this window: its token is not the one that this server was started with",
        mend: "open the URL that npm start printed, whole, with what follows the #",
      })
    : new RemoteError({
        name: "WorkbenchGone",
        message: "The workbench does not answer: its process has ended",
        mend: "start it again with npm start and open the URL that it prints",
      });
}

/** The desktop's shell; undefined in a browser. */
export function windowShell(): WindowShell | undefined {
  return (globalThis as { readonly [SHELL_NAME]?: WindowShell })[SHELL_NAME];
}

/** The main process answers at once, or not at all. */
const PORT_MS = 10_000;

/** The port that the shell answers with. */
function takePort(shell: WindowShell): Promise<MessagePort> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(limit);
      removeEventListener("message", onMessage);
    };
    const onMessage = ({ source, data, ports }: MessageEvent): void => {
      if (source !== window || data !== PORT_MESSAGE || ports[0] === undefined) return;
      stop();
      resolve(ports[0]);
    };
    const limit = setTimeout(() => {
      stop();
      reject(
        new RemoteError({
          name: "WorkbenchGone",
          message: "The desktop app gave this window no connection to its workbench",
          mend: "quit the app and start it again",
        }),
      );
    }, PORT_MS);
    addEventListener("message", onMessage);
    shell.connect();
  });
}

async function openSocket(): Promise<Channel> {
  const token = takeToken();
  if (token === "") {
    throw new RemoteError({
      name: "TokenMissing",
      message: "This window has no token, so the workbench would not let it in",
      mend: "open the URL that npm start printed, whole, with what follows the #",
    });
  }
  const socket = new WebSocket(`ws://${location.host}${SOCKET_PATH}`, [PROTOCOL, `${TOKEN_PREFIX}${token}`]);
  socket.binaryType = "arraybuffer";
  if (!(await opened(socket))) throw await whyRefused();
  return socketChannel(socket);
}

/** Connects. Rejects with `RemoteError` where the desktop gives no port, or this window has no token or is refused. */
export async function openBridge(): Promise<Workbench> {
  const shell = windowShell();
  return connect(shell === undefined ? await openSocket() : portChannel(await takePort(shell)));
}
