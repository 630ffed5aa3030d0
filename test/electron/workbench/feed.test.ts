/** Followers of a feed get everything from when they joined, at their own pace. */
import { describe, expect, it } from "vitest";
import { Feed } from "../../../electron/workbench/feed.ts";

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const seen: Item[] = [];
  for await (const item of items) seen.push(item);
  return seen;
}

describe("a feed", () => {
  it("gives each follower what went before, then everything, to its end", async () => {
    const feed = new Feed<number>();
    const { signal } = new AbortController();
    const early = all(feed.follow([0], signal));
    feed.push(1);
    const late = all(feed.follow([0, 1], signal));
    feed.push(2);
    feed.close();
    expect(await early).toEqual([0, 1, 2]);
    expect(await late).toEqual([0, 1, 2]);
  });

  it("replaces what a slow follower has not read, and nothing else", async () => {
    const feed = new Feed<string>({ replaces: (last, next) => last[0] === next[0] });
    const seen = all(feed.follow([], new AbortController().signal));
    for (const item of ["a1", "a2", "b1", "a3"]) feed.push(item);
    feed.close();
    expect(await seen).toEqual(["a2", "b1", "a3"]);
  });

  it("ends with the follower's signal", async () => {
    const feed = new Feed<number>();
    const controller = new AbortController();
    const seen = all(feed.follow([1], controller.signal));
    await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort();
    feed.push(2);
    expect(await seen).toEqual([1]);
  });
});
