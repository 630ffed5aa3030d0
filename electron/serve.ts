/**
 * The window in a browser, where there is no desktop shell: a server on the loopback interface, on a port of the system's
 * choice, that serves the built window and speaks the contract over a WebSocket. A random token in the URL's fragment, which
 * never reaches a log or a server, lets a window in.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { bundleArguments, evidenceArgument } from "./arguments.ts";
import { answer } from "./contract/answer.ts";
import { socketChannel } from "./contract/socket.ts";
import { places } from "./host/root.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { securityHeaders, type WindowFile, type WindowFiles, windowFiles } from "./window_files.ts";
import { openWorkbench } from "./workbench/workbench.ts";

export interface ServeOptions {
  /** Folder of the built window: `out/renderer`. */
  readonly window: string;
  readonly workbench: ReturnType<typeof openWorkbench>;
}

export interface Served {
  readonly origin: string;
  readonly token: string;
  /** What a browser opens: the origin with the token in the fragment. */
  readonly url: string;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
export const SOCKET_PATH = "/contract";
/** The WebSocket's subprotocol, and the prefix of the one that carries the token. */
export const PROTOCOL = "lockstep";
export const TOKEN_PREFIX = "token.";
const TOKEN_BYTES = 24;

/** Largest message that a window may send. Its requests are short; arrays go the other way. */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** Compares in a time that does not depend on where two words differ. */
function sameWord(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function tokenIn(request: IncomingMessage): string {
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((word) => word.trim());
  return offered.find((word) => word.startsWith(TOKEN_PREFIX))?.slice(TOKEN_PREFIX.length) ?? "";
}

/** Why an upgrade is refused; undefined where it may go on. */
function refusal(request: IncomingMessage, origin: string, token: string): string | undefined {
  if (request.headers.host !== new URL(origin).host) return "421 Misdirected Request";
  if (request.url !== SOCKET_PATH) return "404 Not Found";
  if (request.headers.origin !== origin) return "403 Forbidden";
  return sameWord(tokenIn(request), token) ? undefined : "401 Unauthorized";
}

/** Starts the server and resolves when it listens. */
export async function serve({ window, workbench }: ServeOptions): Promise<Served> {
  const files = windowFiles(window);
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const origin = `http://${HOST}:${port}`;
  // Some browsers do not count the WebSocket as 'self'.
  const headers = securityHeaders(`'self' ws://${HOST}:${port}`);

  server.on("request", (request, response) => respond(request, response, files, headers, `${HOST}:${port}`));
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_REQUEST_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    const refused = refusal(request, origin, token);
    if (refused !== undefined) {
      socket.end(`HTTP/1.1 ${refused}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.binaryType = "arraybuffer";
      client.on("error", () => client.terminate());
      answer(socketChannel(client), workbench.handlers);
    });
  });
  return { origin, token, url: `${origin}/#token=${token}`, close: () => closeServer(server, sockets, workbench) };
}

/** The file that a request gets, or the status that it is refused with. */
function wanted(request: IncomingMessage, files: WindowFiles, host: string): WindowFile | number {
  // Another name for this address is another site to a browser: a rebound domain must get nothing.
  if (request.headers.host !== host) return 421;
  if (request.method !== "GET" && request.method !== "HEAD") return 405;
  return files.get((request.url ?? "/").split("?", 1)[0]!) ?? 404;
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  files: WindowFiles,
  headers: Readonly<Record<string, string>>,
  host: string,
): void {
  const file = wanted(request, files, host);
  if (typeof file === "number") {
    response.writeHead(file, headers).end();
    return;
  }
  response.writeHead(200, { ...headers, "content-type": file.type, "content-length": file.body.length });
  response.end(request.method === "HEAD" ? undefined : file.body);
}

async function closeServer(
  server: Server,
  sockets: WebSocketServer,
  workbench: ServeOptions["workbench"],
): Promise<void> {
  await workbench.close();
  for (const client of sockets.clients) client.close(1001, "the workbench has ended");
  sockets.close();
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

/** Serves until it is interrupted. The URL is the one line on standard output. */
async function main(argv: readonly string[]): Promise<void> {
  const where = places();
  const workbench = openWorkbench({ places: where, evidence: evidenceArgument(argv, process.cwd()) ?? "evidence" });
  for (const bundle of bundleArguments(argv, process.cwd())) await workbench.open(bundle);
  const served = await serve({ window: where.window, workbench });
  onInterrupt(
    () => void served.close().then(() => process.exit(0)),
    () => process.exit(INTERRUPTED),
  );
  process.stdout.write(`${served.url}\n`);
}

// The bundle is started as a program; tests import `serve`.
if (process.argv[1]?.endsWith("serve.mjs")) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  });
}
