/**
 * The built window as every door serves it: a table of files, read once, and the headers that go with each of them. The
 * loopback server answers from it over HTTP, the desktop shell under `app://`.
 */
import fs from "node:fs";
import path from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".png": "image/png",
};

/** Headers of every answer. `connect` is what the window may connect to: sources of the policy's `connect-src`. */
export function securityHeaders(connect: string): Readonly<Record<string, string>> {
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      "worker-src 'self'",
      `connect-src ${connect}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=()",
    "cache-control": "no-store",
  };
}

export interface WindowFile {
  readonly type: string;
  readonly body: Buffer<ArrayBuffer>;
}

/** Path of a URL, with `/` for the page itself -> file. */
export type WindowFiles = ReadonlyMap<string, WindowFile>;

/** One folder at a time: an archive of Electron does not list its folders recursively in every version. */
function filesBelow(folder: string): readonly string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(full);
    return entry.isFile() ? [full] : [];
  });
}

/**
 * Reads the built window, once: no path can lead anywhere else, and a window that is built anew does not change under the one
 * that is open. Throws Error where `folder` holds no window.
 */
export function windowFiles(folder: string): WindowFiles {
  const files = new Map<string, WindowFile>();
  for (const file of filesBelow(folder)) {
    const type = TYPES[path.extname(file)] ?? "application/octet-stream";
    files.set(`/${path.relative(folder, file).split(path.sep).join("/")}`, { type, body: fs.readFileSync(file) });
  }
  const index = files.get("/index.html");
  if (index === undefined) throw new Error(`${folder} holds no index.html: build the window with npm start.`);
  files.set("/", index);
  return files;
}
