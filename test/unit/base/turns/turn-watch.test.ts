/** What stops the thread is found, named and counted; a loop that idles or has short turns is left alone. */
import { expect, test } from "vitest";
import { during, takeLongest } from "../../../../src/base/turns/long-work.ts";
import { turnMetrics } from "../../../../src/base/turns/metrics.ts";
import { type Loop, TurnWatch, turnWatch } from "../../../../src/base/turns/turn-watch.ts";
import { keepBusy } from "../../../support/pace.ts";
import { until } from "../../../support/wait.ts";

/** A loop whose time goes on by what it is told to do. */
class TestLoop implements Loop {
  #nowMs = 0;
  #idleMs = 0;
  #atEnd: (() => void)[] = [];
  /** How often the end of a turn was asked for. */
  asked = 0;
  readonly clock = { now: () => 0, monotonic: () => this.#nowMs };

  now(): number {
    return this.#nowMs;
  }

  idleMs(): number {
    return this.#idleMs;
  }

  atEnd(act: () => void): void {
    this.asked++;
    this.#atEnd.push(act);
  }

  idle(ms: number): void {
    this.#nowMs += ms;
    this.#idleMs += ms;
  }

  work(ms: number): void {
    this.#nowMs += ms;
  }

  /** A turn: what is done, then its end. */
  turn(act: () => void): void {
    act();
    for (const end of this.#atEnd.splice(0)) end();
  }
}

function watched() {
  // What other tests of this process left.
  takeLongest();
  const loop = new TestLoop();
  const watch = new TurnWatch(loop);
  const clock = watch.watched(loop.clock);
  /** A turn in which a call reads the clock first and then takes so long. */
  const call = (ms: number) =>
    loop.turn(() => {
      clock.monotonic();
      loop.work(ms);
    });
  const seen = () => {
    watch.settle();
    return [...watch.turns.read("what")].map(({ labels, counts, sum }) => ({
      what: labels.what,
      count: counts.reduce((all, one) => all + one, 0),
      ms: Math.round(sum * 1000 * 1000) / 1000,
    }));
  };
  return { loop, watch, clock, call, seen };
}

test("a turn of 5 ms behind a pause is counted with its length", () => {
  const { loop, call, seen } = watched();
  loop.idle(100);
  call(5);
  expect(seen()).toEqual([{ what: "other", count: 1, ms: 5 }]);
});

test("turns of less than a millisecond are not counted, however many follow each other", () => {
  const { loop, call, seen } = watched();
  for (let i = 0; i < 1000; i++) {
    call(0.9);
    if (i % 10 === 0) loop.idle(1);
  }
  for (let i = 0; i < 1000; i++) call(0.1);
  expect(seen()).toEqual([]);
});

test("where turns are short, an end is asked for once a millisecond at most", () => {
  const { loop, call } = watched();
  for (let i = 0; i < 10_000; i++) {
    call(0.02);
    loop.idle(0.08);
  }
  // 10,000 turns in a second.
  expect(loop.asked).toBeLessThanOrEqual(1001);
});

test("an idle loop is not looked at", () => {
  const { loop, call } = watched();
  call(0.1);
  const { asked } = loop;
  for (let i = 0; i < 100; i++) loop.turn(() => loop.idle(10));
  expect(loop.asked).toBe(asked);
});

test("a long turn right behind a short one is seen, whichever of its calls reads the clock", () => {
  const { loop, clock, call, seen } = watched();
  call(0.1);
  loop.turn(() => {
    for (let i = 0; i < 60; i++) {
      clock.monotonic();
      loop.work(0.1);
    }
  });
  const [turn] = seen();
  expect(turn?.count).toBe(1);
  // The time until a call asked for the end may have been of several short turns.
  expect(turn?.ms).toBeGreaterThan(4.5);
});

test("in a busy loop each turn is measured from its beginning, also before the clock is read", () => {
  const { loop, clock, call, seen } = watched();
  call(3);
  loop.turn(() => {
    loop.work(2);
    clock.monotonic();
    loop.work(2);
  });
  expect(seen()).toEqual([{ what: "other", count: 2, ms: 7 }]);
});

test("the wait between two turns belongs to none", () => {
  const { loop, call, seen } = watched();
  call(2);
  loop.idle(500);
  call(2);
  expect(seen()).toEqual([{ what: "other", count: 2, ms: 4 }]);
});

test("a collection that took half of a turn names it, though it is told of only afterwards", () => {
  const { loop, watch, call, seen } = watched();
  loop.idle(10);
  call(6);
  watch.collected({ kind: "minor", startMs: 11, ms: 4 });
  watch.collected({ kind: "minor", startMs: 3, ms: 50 });
  expect(seen()).toEqual([{ what: "collection", count: 1, ms: 6 }]);
  expect([...watch.collections.read("kind")]).toMatchObject([{ labels: { kind: "minor" }, sum: 0.054 }]);
});

test("the thread's own loop: work of 20 ms is seen, with its name, though no clock was read", async () => {
  const watch = turnWatch();
  const followed = () => {
    watch.settle();
    // Once more at each look: on a busy machine the process may stand still in that turn for longer than it works.
    setImmediate(() => during("follow", () => keepBusy(20)));
    return [...watch.turns.read("what")].find(({ labels }) => labels.what === "follow")?.sum ?? 0;
  };
  await until("the turn is counted", followed, (sum) => sum >= 0.019);
});

test("the thread's own loop: collections are counted by their kind", async () => {
  const read = () => [...(turnMetrics(turnWatch()).histograms?.weir_collections_seconds?.read() ?? [])];
  let kept: unknown[] = [];
  await until(
    "a collection is counted",
    () => {
      for (let i = 0; i < 1000; i++) kept.push({ i, text: `${i}` });
      if (kept.length > 100_000) kept = [];
      return read();
    },
    (series) => series.some(({ labels }) => labels.kind === "minor"),
  );
});
