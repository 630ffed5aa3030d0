/** `app://lockstep/`: the window's files, and nothing else. */
import { protocol } from "electron";
import { securityHeaders, type WindowFiles } from "../window_files.ts";
import { CONNECT_SOURCES, isWindowUrl, SCHEME, SCHEME_PRIVILEGES } from "./security.ts";

const HEADERS = securityHeaders(CONNECT_SOURCES);

/** Before the app is ready. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([{ scheme: SCHEME, privileges: SCHEME_PRIVILEGES }]);
}

/** The file that a request gets, or the status that it is refused with. */
function answerRequest(files: WindowFiles, { url, method }: Pick<Request, "url" | "method">): Response {
  const refuse = (status: number): Response => new Response(null, { status, headers: HEADERS });
  if (!isWindowUrl(url)) return refuse(404);
  if (method !== "GET" && method !== "HEAD") return refuse(405);
  const file = files.get(new URL(url).pathname);
  if (file === undefined) return refuse(404);
  const headers = { ...HEADERS, "content-type": file.type, "content-length": String(file.body.length) };
  return new Response(method === "HEAD" ? null : file.body, { status: 200, headers });
}

/** When the app is ready, before the first window. */
export function serveWindow(files: WindowFiles): void {
  protocol.handle(SCHEME, (request) => answerRequest(files, request));
}
