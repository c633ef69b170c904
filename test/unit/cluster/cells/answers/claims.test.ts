/** Claims of Idempotency-Keys whose exchange with Redis has no answer, with timers of the test. */
import { expect, test } from "vitest";
import { Claims, PATIENCE_MS } from "../../../../../src/cluster/cells/answers/claims.ts";
import type { Operation } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import type { RedisValue } from "../../../../../src/cluster/cells/redis/redis.ts";
import { equals, until } from "../../../../support/wait.ts";

const FIRST: RedisValue[] = [1];

function claimsWithTimers() {
  const due: { delayMs: number; act: () => void }[] = [];
  const sent: { operations: readonly Operation[]; reply(results: RedisValue[][]): void }[] = [];
  const claims = new Claims({
    lane: { send: (operations) => new Promise((resolve) => sent.push({ operations, reply: resolve })) },
    look: async () => [],
    timers: {
      after(delayMs, act) {
        const timer = { delayMs, act };
        due.push(timer);
        return () => void (due.includes(timer) && due.splice(due.indexOf(timer), 1));
      },
    },
    mostAnswers: 10,
  });
  const patienceEnds = () => {
    for (const { delayMs, act } of due.splice(0)) {
      expect(delayMs).toBe(PATIENCE_MS);
      act();
    }
  };
  return { claims, sent, due, patienceEnds };
}

const refused = { kind: "storage_unavailable" };

test("once a call waited in vain, the next are refused at once, until Redis answers", async () => {
  const { claims, sent, due, patienceEnds } = claimsWithTimers();
  const waiting = claims.claim("one", "f", "r");
  await until("the claim is sent", () => sent.length, equals(1));
  patienceEnds();
  await expect(waiting).rejects.toMatchObject(refused);
  await expect(claims.claim("two", "f", "r")).rejects.toMatchObject(refused);
  // It was not asked for, and waits for nothing.
  expect(due).toEqual([]);

  sent[0]?.reply([FIRST]);
  // What nobody waits for is given back.
  await until("it is given back", () => sent.length, equals(2));
  expect(sent[1]?.operations).toEqual([["unclaim", "one"]]);
  sent[1]?.reply([[]]);
  await claims.idle();
  const next = claims.claim("three", "f", "r");
  await until("the next claim is sent", () => sent.length, equals(3));
  sent[2]?.reply([FIRST]);
  expect(await next).toEqual({ kind: "first" });
});

test("a call whose time ends before it is sent refuses none after it", async () => {
  const { claims, sent, patienceEnds } = claimsWithTimers();
  const waiting = claims.claim("one", "f", "r");
  // As in a process that stood still.
  patienceEnds();
  await expect(waiting).rejects.toMatchObject(refused);
  await claims.idle();
  expect(sent).toEqual([]);
  const next = claims.claim("two", "f", "r");
  await until("the claim is sent", () => sent.length, equals(1));
  sent[0]?.reply([FIRST]);
  expect(await next).toEqual({ kind: "first" });
});
