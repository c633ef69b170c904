import { setImmediate as turn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import {
  equals,
  type Figures,
  Hopeless,
  LIMIT_MS,
  type Surroundings,
  until,
  untilBy,
} from "../../support/wait.ts";

const realImmediate = setImmediate;

/** Time that passes as fast as timers are set, and a machine whose figures rise with it. */
class OwnTime implements Surroundings {
  nowMs = 1000;
  /** Delays of all timers but the beats. */
  readonly pauses: number[] = [];
  readonly #timers = new Set<{ readonly atMs: number; readonly act: () => void }>();

  readonly monotonic = () => this.nowMs;

  readonly after = (delayMs: number, act: () => void) => {
    // A turn of the event loop takes a millisecond here.
    const timer = { atMs: this.nowMs + Math.max(delayMs, 1), act };
    this.#timers.add(timer);
    if (delayMs !== 250) this.pauses.push(delayMs);
    return () => void this.#timers.delete(timer);
  };

  readonly figures = (): Figures => ({
    ownMs: this.nowMs / 4,
    busyMs: this.nowMs * 1.5,
    stolenMs: this.nowMs / 10,
    processors: 2,
    load: 3.25,
    freeBytes: 1.5e9,
    totalBytes: 8e9,
  });

  get timers(): number {
    return this.#timers.size;
  }

  /** Each time the timer that is due first, until the wait is over. */
  async run<T>(wait: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    wait.then(over, over);
    while (!isOver) {
      await turn();
      const [first] = [...this.#timers].sort((a, b) => a.atMs - b.atMs);
      if (first === undefined || isOver) continue;
      this.#timers.delete(first);
      this.nowMs = Math.max(this.nowMs, first.atMs);
      first.act();
    }
    return await wait;
  }
}

/** A wait by a time of its own, run to its end. */
function own(time = new OwnTime()) {
  const wait = untilBy(time);
  const run: typeof wait = (...args) => time.run(wait(...args));
  return { time, run };
}

const message = (wait: Promise<unknown>): Promise<string> =>
  wait.then(String, (error: Error) => error.message);

test("it looks until what it sees holds, and returns that", async () => {
  const { time, run } = own();
  let n = 0;
  expect(
    await run(
      "it is four",
      () => ++n,
      (seen) => seen === 4,
    ),
  ).toBe(4);
  expect(n).toBe(4);
  expect(await run("there is a text", async () => (++n > 8 ? "text" : ""))).toBe("text");
  expect(time.timers).toBe(0);
});

test("what holds at once costs no timer", async () => {
  const { time, run } = own();
  await run("it holds", () => true);
  expect(time.pauses).toEqual([]);
  expect(time.nowMs).toBe(1000);
});

test("a failure says what was waited for, what was seen last, and what the machine did", async () => {
  const { time, run } = own();
  let n = 0;
  const said = await message(
    run(
      "the queue is empty",
      () => ({ waiting: 3, look: ++n }),
      ({ waiting }) => waiting === 0,
    ),
  );
  expect(said.split("\n")).toEqual([
    `waited in vain until the queue is empty: ${n} looks in 120.0 s`,
    `seen last: { waiting: 3, look: ${n} }`,
    "meanwhile: of 2 processors this process used 0.25, all together 1.50, the host took 0.10; load 3.3; " +
      "1.5 of 8.0 GB free; the event loop stood still for 0 ms at the most; the longest look took 0 ms",
  ]);
  expect(time.nowMs).toBe(1000 + LIMIT_MS);
  expect(time.timers).toBe(0);
});

test("an error of a look is a look in vain, and the last one is the failure's cause", async () => {
  const { run } = own();
  let n = 0;
  const answer = () => {
    if (++n < 3) throw new Error("nothing listens");
    return n;
  };
  expect(await run("it listens", answer)).toBe(3);
  const away = new Error("nothing listens");
  const wait = run("it listens", () => Promise.reject(away));
  await expect(wait).rejects.toMatchObject({
    message: expect.stringContaining("\nseen last: the error Error: nothing listens\n"),
    cause: away,
  });
});

test("an error of the condition is a no, and shown with what was seen", async () => {
  const { run } = own();
  let n = 0;
  expect(
    await run(
      "it is three",
      () => ++n,
      (seen) => expect(seen).toBe(3) ?? true,
    ),
  ).toBe(3);
  const wait = run(
    "it is three",
    () => [1, 2],
    (seen) => expect(seen).toBe(3),
  );
  expect(await message(wait)).toContain(
    "\nseen last: [ 1, 2 ], with the error AssertionError: expected [ 1, 2 ] to be 3",
  );
});

test("what is seen may have to be equal to something, which the failure shows too", async () => {
  const { run } = own();
  let n = 0;
  expect(
    await run(
      "there are two",
      () => Array.from({ length: n++ }, () => ({ is: "one" })),
      equals([{ is: "one" }, { is: "one" }]),
    ),
  ).toHaveLength(2);
  expect(await message(run("it is gone", () => ["it"], equals([])))).toContain(
    "\nseen last: [ 'it' ], with the error Error: it is not []\n",
  );
});

test("a look ends the wait where what it waits for can no longer come", async () => {
  const { time, run } = own();
  const wait = run("it is ready", () => {
    throw new Hopeless("the process ended");
  });
  await expect(wait).rejects.toThrow(new Hopeless("the process ended"));
  expect(time.nowMs).toBe(1000);
  expect(time.timers).toBe(0);
});

test("a look that never returns is named, with what was seen before it", async () => {
  const { run } = own();
  let n = 0;
  const said = await message(
    run(
      "it answers",
      () => (++n < 3 ? n : new Promise<number>(() => {})),
      (seen) => seen > 5,
    ),
  );
  expect(said).toMatch(
    /^waited in vain until it answers: 3 looks in 120\.0 s \(the last one has not returned for 120\.0 s\)\n/,
  );
  expect(said).toContain("\nseen last: 2\n");
  const first = own();
  expect(await message(first.run("it answers", () => new Promise(() => {})))).toContain(
    "\nseen last: nothing\n",
  );
});

test("pauses grow with what a look costs, and a look that costs nothing is taken each turn at first", async () => {
  const { time, run } = own();
  const costs = [0, 0, 7, 2, 400, 0, 1];
  let n = 0;
  const look = () => {
    time.nowMs += costs[n++] ?? 0;
    return n;
  };
  await run("all costs are had", look, (seen) => seen > costs.length);
  expect(time.pauses).toEqual([0, 0, 21, 6, 500, 2, 3]);
});

test("a machine that stood still uses up two seconds at the most, and the failure says so", async () => {
  const { time, run } = own();
  let n = 0;
  const look = () => {
    if (++n === 10) time.nowMs += 3_600_000;
    return false;
  };
  const said = await message(run("it moves", look));
  expect(time.nowMs - 1000).toBeGreaterThan(3_600_000 + LIMIT_MS - 5_000);
  expect(said).toMatch(/ looks in 37\d\d\.\d s, 359\d\.\d s of them not counted/);
  expect(said).toMatch(
    /the event loop stood still for 3599\.\d s at the most; the longest look took 3600\.0 s$/,
  );
});

test("long values are cut", async () => {
  const { run } = own();
  expect(
    (
      await message(
        run(
          "it ends",
          () => "x".repeat(1e6),
          () => false,
        ),
      )
    ).length,
  ).toBeLessThan(3_000);
});

test("the real one waits for what other turns bring, also where a test has replaced the timers", async () => {
  vi.useFakeTimers();
  try {
    let turns = 0;
    const count = () => {
      if (++turns < 30) realImmediate(count);
    };
    count();
    expect(
      await until(
        "30 turns are over",
        () => turns,
        (seen) => seen === 30,
      ),
    ).toBe(30);
    let looks = 0;
    await until("it has looked for longer than it looks each turn", async () => {
      await turn();
      return ++looks > 40;
    });
  } finally {
    vi.useRealTimers();
  }
});
