/** Kernels checked through the contract and the real host. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OpenedWindow, openWindow } from "./fixture.ts";

let opened: OpenedWindow;

beforeAll(() => {
  opened = openWindow();
});

afterAll(() => opened.close());

const shape = {
  operator: "gqa_decode",
  heads: 8,
  kvHeads: 1,
  dim: 64,
  live: 33,
  capacity: 37,
  scale: 1,
  dtype: "f32",
} as const;

it("a route's kernels are built in the host and answered with what the compiler said", async () => {
  const answer = await opened.window.call("kernels.check", { route: "naive", shape, chip: null });
  expect(answer).toMatchObject({ diagnostics: [], refusal: null });
  expect(answer.pipelines.length).toBeGreaterThan(0);
  await expect(opened.window.call("kernels.check", { route: "nothing", shape, chip: null })).rejects.toThrow(
    'no route "nothing"',
  );
});
