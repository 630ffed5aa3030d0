/** The host as a utility process: its environment and its last words, which Metal's validation needs. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { scratchFolder } from "../runs/harness.ts";

vi.mock("electron", () => import("../../electron_stub.ts"));

const { utilityHost } = await import("../../../electron/shell/utility_host.ts");
const { HostClient } = await import("../../../electron/host/client.ts");
const { runRequest } = await import("../host/request.ts");

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

it("has the variables that are asked for beside those of the app, and its last words are heard", async () => {
  const file = path.join(folder, "host.mjs");
  fs.writeFileSync(
    file,
    `process.parentPort.on("message", () => {
      process.stderr.write("layer " + process.env.MTL_DEBUG_LAYER + ", path " + (process.env.PATH !== undefined) + "\\n");
      process.parentPort.postMessage({ type: "finished", outcome: "passed", reason: null });
    });
    process.on("SIGTERM", () => { process.stderr.write("last words\\n".repeat(2000)); process.exit(0); });`,
  );
  let text = "";
  const client = new HostClient({
    path: file,
    start: utilityHost,
    environment: { MTL_DEBUG_LAYER: "1" },
    onLog: (words) => {
      text += words;
    },
  });
  await client.run(runRequest(folder), () => undefined);
  await client.closeDrained();
  expect(text.startsWith("layer 1, path true\n")).toBe(true);
  expect(text.match(/last words/g)).toHaveLength(2000);
});
