/** What is done to all calls that are open leaves turns of the event loop to others. */
import { expect, test } from "vitest";
import { nextTurn } from "../../../../src/base/clock.ts";
import { Live } from "../../../../src/inference/exchange/live/live.ts";
import { until } from "../../../support/wait.ts";

const CALLS = 1000;
const MOST = 200;

function live() {
  const calls = Array.from({ length: CALLS }, (_, number) => ({ index: -1, number }));
  const list = new Live<(typeof calls)[number]>();
  for (const call of calls) list.add(call);
  return { calls, list };
}

test("a thousand calls are visited some at a time, each once", async () => {
  const { calls, list } = live();
  const visited: number[] = [];
  list.visit(MOST, ({ number }) => visited.push(number));
  expect(visited.length).toBe(MOST);
  await nextTurn();
  expect(visited.length).toBeLessThanOrEqual(2 * MOST);
  await until(
    "all are visited",
    () => visited.length,
    (length) => length >= CALLS,
  );
  expect(visited).toEqual(calls.map(({ number }) => number));
});

test("a few calls are visited at once", () => {
  const { calls, list } = live();
  for (const call of calls.slice(MOST)) list.remove(call);
  let visited = 0;
  list.visit(MOST, () => visited++);
  expect(visited).toBe(MOST);
});

test("calls that end while others are visited are left out, and one that comes is none of them", async () => {
  const { calls, list } = live();
  const visited = new Set<number>();
  list.visit(MOST, ({ number }) => visited.add(number));
  const ended = calls.slice(MOST, MOST + 100);
  for (const call of ended) list.remove(call);
  list.add({ index: -1, number: CALLS });
  await until(
    "all others are visited",
    () => visited.size,
    (size) => size >= CALLS - ended.length,
  );
  await nextTurn();
  expect(ended.filter(({ number }) => visited.has(number))).toEqual([]);
  expect(visited.has(CALLS)).toBe(false);
});
