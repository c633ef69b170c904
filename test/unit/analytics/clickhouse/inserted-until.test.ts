/** C2: until when a cell's rows are in ClickHouse, by one queue and by two, of which the second has rows of others too. */
import { expect, test } from "vitest";
import { byTwo, InsertedUntil } from "../../../../src/analytics/clickhouse/inserted-until.ts";

/** A queue whose numbers the test sets. */
function queue(newest = 0, acknowledged = 0) {
  const numbers = { newest, acknowledged };
  return { numbers, newest: () => numbers.newest, acknowledged: () => numbers.acknowledged };
}

const clock = { nowMs: 100, now: () => clock.nowMs };

test("rows of an earlier process make the time unknown until they are there", () => {
  const way = queue(3, 1);
  const until = new InsertedUntil(way, clock);
  expect([until.untilMs(), until.isDone()]).toEqual([0, false]);
  clock.nowMs = 200;
  way.numbers.newest = 4;
  way.numbers.acknowledged = 3;
  expect([until.untilMs(), until.isDone()]).toEqual([100, false]);
  way.numbers.acknowledged = 4;
  expect([until.untilMs(), until.isDone()]).toEqual([200, true]);
});

test("a row that left the first queue is not there before the second has brought it out", () => {
  const [first, second] = [queue(5, 5), queue(7, 7)];
  const way = byTwo(first, second);
  expect(way.acknowledged()).toBe(5);
  // Two charges: in the first queue, then in both, behind what another one put into the second.
  first.numbers.newest = 7;
  expect(way.acknowledged()).toBe(5);
  second.numbers.newest = 10;
  first.numbers.acknowledged = 7;
  expect([way.newest(), way.acknowledged()]).toEqual([7, 5]);
  // More comes behind them, without an end: the first ones count as soon as they are there.
  first.numbers.newest = first.numbers.acknowledged = 9;
  second.numbers.newest = 12;
  second.numbers.acknowledged = 10;
  expect(way.acknowledged()).toBe(7);
  second.numbers.acknowledged = 12;
  expect(way.acknowledged()).toBe(9);
});
