/** What the simulator keeps of its replies: the newest, up to a number and a size. */
import { expect, test } from "vitest";
import type { Script } from "../../../simulator/playback.ts";
import { MAX_SCRIPTS, MAX_SCRIPTS_BYTES, ScriptCache } from "../../../simulator/script-cache.ts";

const script = (bytes: number, steps = 1): Script => ({
  steps: Array.from({ length: steps }, () => ({ bytes: Buffer.alloc(bytes), times: 1, waitMs: 0 })),
  ending: "keep",
});

test("C7: the oldest goes where there are too many, of whatever route", () => {
  const cache = new ScriptCache();
  const routeOf = (n: number) => `POST /with/${n % 7}/v1/chat/completions`;
  for (let n = 0; n < MAX_SCRIPTS + 10; n++) cache.add(routeOf(n), `body ${n}`, script(10));
  expect(cache.size.scripts).toBe(MAX_SCRIPTS);
  const isKept = (n: number) => cache.get(routeOf(n), `body ${n}`) !== undefined;
  expect([9, 10, MAX_SCRIPTS + 9].map(isKept)).toEqual([false, true, true]);
});

test("C7: the oldest go where they take too much memory, steps and bodies included", () => {
  const cache = new ScriptCache();
  const MEGABYTE = 1_048_576;
  for (let n = 0; n < 40; n++) cache.add("route", `${n}`.padEnd(MEGABYTE / 2), script(100, 1500));
  expect(cache.size.bytes).toBeLessThanOrEqual(MAX_SCRIPTS_BYTES);
  // A megabyte each.
  expect(cache.size.scripts).toBeGreaterThan(10);
  expect(cache.size.scripts).toBeLessThan(20);
});

test("C7: one that would drive the others out is not kept", () => {
  const cache = new ScriptCache();
  cache.add("route", "small", script(10));
  cache.add("route", "large", script(MAX_SCRIPTS_BYTES / 2));
  expect(["small", "large"].map((body) => cache.get("route", body) !== undefined)).toEqual([true, false]);
});
