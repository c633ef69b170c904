/** Nobody waits for ever for a thread. */
import { afterAll, expect, test } from "vitest";
import { openThread } from "../../../src/workers/thread.ts";
import { equals, until } from "../../support/wait.ts";

const thread = openThread(new URL("./bounds.fixtures.ts", import.meta.url), 1500);
afterAll(() => thread.close());

test("O31: a task in an endless loop is named when its time is over, and the next one gets a new thread", async () => {
  // The time of a task includes the start of its thread, for which a late machine needs as long: such a task is asked for again.
  await until("a thread answers", () => thread.run("answer", 1), equals(2));
  await expect(thread.run("loop", 0)).rejects.toThrow('the thread\'s task "loop" took longer than 1500 ms');
  await until("a new thread answers", () => thread.run("answer", 2), equals(3));
});
