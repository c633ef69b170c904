/** Calls do not wait for a Redis that takes long to reply. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { assertHonest, FaultyRedis } from "../../../cells/host/faulty-redis.ts";
import { amount } from "../../../support/effort.ts";
import { rest } from "../../../support/pace.ts";
import { missingRedis } from "../../../support/redis-server.ts";

const missing = missingRedis();
const SLOW_MS = 200;
const AT_ONCE = 8;

describe.skipIf(missing !== undefined)(`Redis${missing === undefined ? "" : `: ${missing}`}`, () => {
  let faulty: FaultyRedis;
  beforeAll(async () => {
    faulty = await FaultyRedis.open();
  });
  afterAll(() => faulty?.stop());

  /** Milliseconds that 99 of 100 calls took at most, several under way at once. */
  async function p99(key: string, count: number): Promise<number> {
    const tookMs: number[] = [];
    let left = count;
    const calling = Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) {
        const sentMs = performance.now();
        const answer = await faulty.chat(key);
        assertHonest(answer);
        // Who is told to come again later waited for ever.
        tookMs.push(answer.status === 200 ? performance.now() - sentMs : Number.POSITIVE_INFINITY);
        await rest(5);
      }
    });
    await Promise.all(calling);
    return tookMs.sort((a, b) => a - b)[Math.ceil(count * 0.99) - 1] as number;
  }

  test.each([
    ["no limits", () => faulty.gateway.liveKey],
    ["a large limit", () => faulty.limited],
    ["a large budget", () => faulty.budgeted],
  ])(
    "that takes 200 ms to reply leaves calls of a key with %s as fast as they were while leases last",
    async (what, key) => {
      const count = amount(1000, 240);
      const [before, during]: [number[], number[]] = [[], []];
      await p99(key(), count);
      // By turns: what else this machine does slows both.
      for (let round = 0; round < amount(9, 4); round++) {
        before.push(await p99(key(), count));
        faulty.proxy.delay(SLOW_MS);
        during.push(await p99(key(), count));
        faulty.proxy.delay(0);
      }
      const shown = [before, during].map((all) => all.map((ms) => ms.toFixed(0)).join(", "));
      console.log(`p99 of calls with ${what}: ${shown[0]} ms; with a slow Redis ${shown[1]} ms`);
      expect(typical(during)).toBeLessThanOrEqual(1.5 * typical(before) + 20);
      await faulty.assertPaid();
    },
  );
});

/** The median; of few rounds the least, for a wait for Redis is in every round, and one for a processor is not. */
const typical = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[amount(values.length >> 1, 0)] as number;
