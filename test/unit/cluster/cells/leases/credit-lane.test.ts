/** The cell's conversation about credit, with answers that come when the test says so. */
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../../../src/base/clock.ts";
import { SharedClock } from "../../../../../src/cluster/cells/clock/shared-clock.ts";
import type { Lane, Operation } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import type { Charges } from "../../../../../src/cluster/cells/leases/charges.ts";
import { CreditLane } from "../../../../../src/cluster/cells/leases/credit-lane.ts";
import type { RedisValue } from "../../../../../src/cluster/cells/redis/redis.ts";
import { STALE_MS } from "../../../../../src/cluster/cells/settings.ts";
import { equals, until } from "../../../../support/wait.ts";

const noCharges = {
  secure: async () => {},
  batchAfter: () => undefined,
  newest: () => 0,
  isWriting: () => false,
};

const open = (
  send: (operations: readonly Operation[]) => Promise<RedisValue[][]>,
  charges: object = noCharges,
  clock: Clock = systemClock,
) =>
  new CreditLane(
    {
      lane: { send } as unknown as Lane,
      charges: charges as unknown as Charges,
      clock,
      time: new SharedClock(clock),
      staleMs: STALE_MS,
      waitMs: 60_000,
      idleMs: 60_000,
      onEnd: () => {},
    },
    0,
  );

/** What the script answers that grants what is asked for. */
const granting = ([operation]: readonly Operation[]): RedisValue[][] => {
  const orgs = (operation as [string, number, number, string, number[]])[4];
  const values: number[] = [];
  for (let at = 0; at < orgs.length; at += 6) {
    const target = orgs[at + 4] as number;
    values.push(0, 100, target, 100, 100 - target, 100 - (orgs[at + 3] as number), 0);
  }
  return [[1, values, [], [], [], [], Date.now()] as RedisValue[]];
};

test("an org that a call waits for goes with the next exchange, however many have charges or changed", async () => {
  const orgsOf = (count: number) =>
    new Map(Array.from({ length: count }, (_, n) => [`charged_${n}`, { count: 1, sumMicroUsd: 1 }]));
  let [isAnswered, sent] = [false, 0];
  const charges = {
    ...noCharges,
    batchAfter: () => ({ after: 0, last: 1, mark: "", orgs: orgsOf(1000), scopes: { sums: new Map() } }),
    keep: () => new Promise(() => {}),
  };
  const credit = open(async (operations) => {
    sent++;
    return granting(operations);
  }, charges);
  for (let n = 0; n < 2000; n++) credit.changed(credit.of(`changed_${n}`));
  await credit.wait(credit.of("org"), 46, () => {
    isAnswered = true;
  });
  expect([isAnswered, sent]).toEqual([true, 1]);
});

test("C1: a budget that the cell has forgotten is not taken up again because its lease is wanted", async () => {
  let sent = 0;
  const credit = open(async (operations) => {
    sent++;
    const [[isTaken, values, wanted, spends, , crossed, redisMs] = []] = granting(operations);
    return [[isTaken, values, wanted, spends, ["k:forgotten"], crossed, redisMs] as RedisValue[]];
  });
  await credit.wait(credit.of("org"), 46, () => {});
  expect([sent, credit.scopes.size]).toEqual([1, 0]);
});

test("a stop waits for what is being written without keeping the event loop", async () => {
  let [looks, isWriting] = [0, true];
  const charges = {
    ...noCharges,
    isWriting() {
      // As the store tries a write again on a disk that was full: with the next turn of the event loop.
      if (++looks === 3)
        setImmediate(() => {
          isWriting = false;
        });
      return isWriting;
    },
  };
  const credit = open(async (operations) => granting(operations), charges);
  await credit.close();
  expect(isWriting).toBe(false);
});

test("a lease that is granted after the call has given up goes back", async () => {
  const asked: { operations: readonly Operation[]; answer: (values: RedisValue[]) => void }[] = [];
  let isGivenBack = false;
  // Numbers of no charges, the lease, the balance, what is free and available, and the outcome.
  const none = [0, 100, 0, 100, 100, 100, 0];
  const send = (operations: readonly Operation[]) =>
    new Promise<RedisValue[][]>((resolve) => {
      const answer = (values: RedisValue[]) => resolve([[1, values, [], [], [], [], Date.now()]]);
      asked.push({ operations, answer });
      // A sweep may ask for the same once more.
      if (isGivenBack)
        answer((operations[0] as [string, number, number, string, unknown[]])[4].length > 0 ? none : []);
    });
  const credit = new CreditLane(
    {
      lane: { send } as unknown as Lane,
      charges: noCharges as unknown as Charges,
      clock: systemClock,
      time: new SharedClock(systemClock),
      staleMs: STALE_MS,
      waitMs: 1,
      idleMs: 1,
      onEnd: () => {},
    },
    0,
  );
  // Refused by the look that also forgets orgs of which nothing is left.
  await expect(credit.wait(credit.of("org"), 46, () => {})).rejects.toThrow("could not be looked up");
  expect(asked.map(({ operations }) => operations)).toEqual([
    [["credit", 0, 0, "", ["org", 0, 0, 0, 46, 46], []]],
  ]);
  asked[0]?.answer([0, 100, 46, 100, 54, 100, 0]);
  await until(
    "the lease is given back",
    () => asked.at(-1)?.operations,
    equals([["credit", 0, 0, "", ["org", 0, 0, 0, 0, -1], []]]),
  );
  isGivenBack = true;
  asked.at(-1)?.answer(none);
  await until("no purse is kept", () => credit.size, equals(0));
});
