/** The loopback server lets in the window that it was started for, and nobody else. */
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { connect } from "../../../electron/contract/connect.ts";
import { socketChannel } from "../../../electron/contract/socket.ts";
import { PROTOCOL, type Served, SOCKET_PATH, serve, TOKEN_PREFIX } from "../../../electron/serve.ts";
import { openWorkbench } from "../../../electron/workbench/workbench.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";

let folder: string;
let served: Served;

beforeAll(async () => {
  folder = scratchFolder();
  const window = path.join(folder, "window");
  fs.mkdirSync(path.join(window, "assets"), { recursive: true });
  fs.writeFileSync(path.join(window, "index.html"), "<!doctype html><title>window</title>");
  fs.writeFileSync(path.join(window, "assets", "main.js"), "export {};");
  fs.writeFileSync(path.join(folder, "secret"), "secret");
  const workbench = openWorkbench({ places: WHERE, evidence: path.join(folder, "evidence") });
  served = await serve({ window, workbench });
});

afterAll(async () => {
  await served.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

interface Answered {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** A request with a path and headers that `fetch` would not send as they are. */
function ask(target: string, options: { readonly method?: string; readonly host?: string } = {}): Promise<Answered> {
  const { hostname, port, host } = new URL(served.origin);
  return new Promise((resolve, reject) => {
    const request = http.request(
      { hostname, port, path: target, method: options.method ?? "GET", headers: { host: options.host ?? host } },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      },
    );
    request.on("error", reject);
    request.end();
  });
}

interface Knock {
  readonly token?: string;
  readonly origin?: string;
  readonly path?: string;
  readonly host?: string;
}

/** `open`, or the status that the upgrade was refused with. */
function knock({
  token = served.token,
  origin = served.origin,
  path: target = SOCKET_PATH,
  host,
}: Knock): Promise<string> {
  const socket = new WebSocket(
    `${served.origin.replace("http", "ws")}${target}`,
    [PROTOCOL, `${TOKEN_PREFIX}${token}`],
    {
      origin,
      headers: host === undefined ? {} : { host },
    },
  );
  return new Promise((resolve) => {
    socket.on("open", () => {
      socket.close();
      resolve("open");
    });
    socket.on("unexpected-response", (_, response) => resolve(String(response.statusCode)));
    socket.on("error", () => undefined);
  });
}

describe("files", () => {
  it("of the window are served with headers that allow nothing else", async () => {
    const page = await ask("/");
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect((await ask("/assets/main.js?v=1")).headers["content-type"]).toBe("text/javascript; charset=utf-8");
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(policy).not.toContain("*");
    expect(page.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-embedder-policy": "require-corp",
      "referrer-policy": "no-referrer",
    });
  });

  it("outside the window, other hosts and other methods are refused", async () => {
    for (const target of ["/../secret", "/%2e%2e/secret", "//secret", "/assets/", "/assets/../../secret", "/nothing"]) {
      const answer = await ask(target);
      expect([target, answer.status, answer.body]).toEqual([target, 404, ""]);
    }
    expect((await ask("/", { host: "example.com" })).status).toBe(421);
    expect((await ask("/", { host: `localhost:${new URL(served.origin).port}` })).status).toBe(421);
    expect((await ask("/", { method: "POST" })).status).toBe(405);
    expect((await ask("/", { method: "HEAD" })).body).toBe("");
  });
});

describe("the socket", () => {
  it("opens for the right token, host, origin and path alone", async () => {
    expect(Buffer.from(served.token, "base64url")).toHaveLength(24);
    expect(served.url).toBe(`${served.origin}/#token=${served.token}`);
    expect(await knock({})).toBe("open");
    expect(await knock({ token: "nope" })).toBe("401");
    expect(await knock({ token: "" })).toBe("401");
    expect(await knock({ token: `${served.token.slice(0, -1)}.` })).toBe("401");
    expect(await knock({ origin: "http://example.com" })).toBe("403");
    expect(await knock({ origin: served.origin.replace("127.0.0.1", "localhost") })).toBe("403");
    expect(await knock({ path: "/other" })).toBe("404");
    expect(await knock({ host: "example.com" })).toBe("421");
  });

  it("speaks the contract, and closes on a message that is too large or no frame", async () => {
    const open = async (): Promise<WebSocket> => {
      const socket = new WebSocket(
        `${served.origin.replace("http", "ws")}${SOCKET_PATH}`,
        [PROTOCOL, `${TOKEN_PREFIX}${served.token}`],
        { origin: served.origin },
      );
      socket.binaryType = "arraybuffer";
      await new Promise((resolve) => socket.once("open", resolve));
      return socket;
    };
    const window = connect(socketChannel(await open()));
    expect(await window.call("app.info", {})).toMatchObject({ name: "lockstep" });
    window.close();
    for (const message of [Buffer.alloc(1024 * 1024 + 1), "text", Buffer.from([1, 2])]) {
      const socket = await open();
      const closed = new Promise<number>((resolve) => socket.once("close", resolve));
      socket.send(message);
      expect(await closed).toBeGreaterThanOrEqual(1003);
    }
  });
});
