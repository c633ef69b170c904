/** An org of 380,000 keys: how long a page takes, and how long it keeps the event loop. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, beforeAll, test } from "vitest";
import { manyKeys } from "../../../support/account/many-keys.ts";
import { staysWithin, tookMs } from "../../within.ts";

const COUNT = 380_000;
let org: Awaited<ReturnType<typeof manyKeys>>;
beforeAll(async () => {
  org = await manyKeys(COUNT);
}, 600_000);
afterAll(() => org.stop());

test("the first page of a list and of a search comes within a second, the second of all as well", async () => {
  await staysWithin(1000, () => tookMs(() => org.call("listKeys", { query: {} })));
  await staysWithin(1000, () => tookMs(() => org.call("listKeys", { query: { q: org.nameOf(3) } })));
  await staysWithin(1000, () => tookMs(() => org.call("listKeys", { query: { q: org.idOf(3) } })));
});

test("a search keeps the event loop for no more than 50 ms at a time, however many search", async () => {
  await staysWithin(50, async () => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await Promise.all(
      Array.from({ length: 20 }, () => org.call("listKeys", { query: { q: org.nameOf(3) } })),
    );
    delay.disable();
    return delay.max / 1e6;
  });
});

test("a key is made, rotated and ended within 100 ms", async () => {
  await staysWithin(100, () =>
    tookMs(async () => {
      const made = await org.call("createKey", { body: { name: "one more" } });
      await org.call("rotateKey", { id: made.answer.id, body: { grace_seconds: 0 } });
    }),
  );
});
