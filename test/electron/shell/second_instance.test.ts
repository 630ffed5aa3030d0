/** A second start of the app opens nothing: the first one is told, and this one ends. */
import { expect, it, vi } from "vitest";
import { app, ipcMain, seen } from "../../electron_stub.ts";

vi.mock("electron", () => import("../../electron_stub.ts"));

it("ends without a window, a scheme or a listener where the app is open already", async () => {
  seen.lock = false;
  await import("../../../electron/main.ts");
  expect(seen.quits).toBe(1);
  expect(seen.windows).toEqual([]);
  expect(seen.schemes).toEqual([]);
  expect(ipcMain.eventNames()).toEqual([]);
  expect(app.eventNames()).toEqual([]);
});
