/** Nobody waits for ever for a thread. */
import { afterAll, expect, test } from "vitest";
import { openThread } from "../../../src/workers/thread.ts";

const thread = openThread(new URL("./bounds.fixtures.ts", import.meta.url), 1500);
afterAll(() => thread.close());

test("O31: a task in an endless loop is named when its time is over, and the next one gets a new thread", async () => {
  expect(await thread.run("answer", 1)).toBe(2);
  await expect(thread.run("loop", 0)).rejects.toThrow('the thread\'s task "loop" took longer than 1500 ms');
  expect(await thread.run("answer", 2)).toBe(3);
});
