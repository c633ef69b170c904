/** The cell's conversation about credit, with answers that come when the test says so. */
import { expect, test } from "vitest";
import type { Charges } from "../../../src/cells/credit/charges.ts";
import { CreditLane } from "../../../src/cells/credit/credit-lane.ts";
import type { Lane, Operation } from "../../../src/cells/exchange.ts";
import type { RedisValue } from "../../../src/cells/redis.ts";
import { systemClock } from "../../../src/clock.ts";

const noCharges = { batchAfter: () => undefined, newest: () => 0, isWriting: () => false };

test("a lease that is granted after the call has given up goes back", async () => {
  const asked: { operations: readonly Operation[]; answer: (values: RedisValue[]) => void }[] = [];
  const send = (operations: readonly Operation[]) =>
    new Promise<RedisValue[][]>((resolve) => {
      asked.push({ operations, answer: (values) => resolve([[1, values, [], [], [], [], Date.now()]]) });
    });
  const credit = new CreditLane(
    {
      ...{ lane: { send } as unknown as Lane, charges: noCharges as unknown as Charges, clock: systemClock },
      ...{ life: "1", waitMs: 1, idleMs: 1, onEnd: () => {} },
    },
    0,
  );
  // Refused by the look that also forgets orgs of which nothing is left.
  await expect(credit.wait(credit.of("org"), 46, () => {})).rejects.toThrow("could not be looked up");
  expect(asked.map(({ operations }) => operations)).toEqual([
    [["credit", 0, 0, "", ["org", 0, 0, 0, 46, 46], []]],
  ]);
  // Numbers of no charges, the lease, the balance, what is free and available, and the outcome.
  asked[0]?.answer([0, 100, 46, 100, 54, 100, 0]);
  await expect
    .poll(() => asked.at(-1)?.operations)
    .toEqual([["credit", 0, 0, "", ["org", 0, 0, 0, 0, -1], []]]);
  asked.at(-1)?.answer([0, 100, 0, 100, 100, 100, 0]);
  await expect.poll(() => credit.size).toBe(0);
});
