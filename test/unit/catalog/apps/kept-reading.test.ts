/** Readings that are kept: for a minute, longer where they took long, and never waited for longer than 0.8 s. */
import { expect, test } from "vitest";
import { KeptReading } from "../../../../src/catalog/apps/kept-reading.ts";

/** Time stands until the test moves it; readings end when the test ends them. */
class World {
  nowMs = 0;
  readings = 0;
  #pending: PromiseWithResolvers<number>[] = [];
  #due: { atMs: number; act: () => void }[] = [];
  readonly kept = new KeptReading<number>({
    read: () => {
      this.readings += 1;
      const pending = Promise.withResolvers<number>();
      this.#pending.push(pending);
      return pending.promise;
    },
    clock: { now: () => 1000 + this.nowMs, monotonic: () => this.nowMs },
    timers: {
      after: (delayMs, act) => {
        const timer = { atMs: this.nowMs + delayMs, act };
        this.#due.push(timer);
        return () => (this.#due = this.#due.filter((one) => one !== timer));
      },
    },
  });

  get timers(): number {
    return this.#due.length;
  }

  pass(ms: number): void {
    this.nowMs += ms;
    for (const { act } of this.#due.filter(({ atMs }) => atMs <= this.nowMs)) act();
  }

  async end(value: number | Error): Promise<void> {
    const pending = this.#pending.shift();
    if (value instanceof Error) pending?.reject(value);
    else pending?.resolve(value);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("many that ask at once are one reading, which is kept for a minute", async () => {
  const world = new World();
  const asked = Array.from({ length: 100 }, () => world.kept.get());
  await world.end(7);
  expect(new Set((await Promise.all(asked)).map((r) => JSON.stringify(r)))).toEqual(
    new Set(['{"value":7,"readAtMs":1000,"isCurrent":true}']),
  );
  world.pass(59_999);
  expect(await world.kept.get()).toMatchObject({ value: 7, isCurrent: true });
  expect([world.readings, world.timers]).toEqual([1, 0]);
  world.pass(1);
  const next = world.kept.get();
  await world.end(8);
  expect(await next).toMatchObject({ value: 8, readAtMs: 61_000, isCurrent: true });
  expect(world.readings).toBe(2);
});

test("after 0.8 s the last reading is answered, or none; who asks later does not wait again", async () => {
  const world = new World();
  const first = world.kept.get();
  world.pass(800);
  expect(await first).toBeUndefined();
  expect(await world.kept.get()).toBeUndefined();
  expect([world.readings, world.timers]).toEqual([1, 0]);
  await world.end(1);
  expect(await world.kept.get()).toMatchObject({ value: 1, isCurrent: true });
  world.pass(60_000);
  const second = world.kept.get();
  world.pass(800);
  expect(await second).toMatchObject({ value: 1, isCurrent: false });
});

test("a reading that failed leaves the last one, and is tried again after a second", async () => {
  const world = new World();
  const first = world.kept.get();
  await world.end(1);
  await first;
  world.pass(60_000);
  const failed = world.kept.get();
  await world.end(new Error("away"));
  expect(await failed).toMatchObject({ value: 1, isCurrent: false });
  world.pass(999);
  expect(await world.kept.get()).toMatchObject({ value: 1, isCurrent: false });
  expect(world.readings).toBe(2);
  world.pass(1);
  const again = world.kept.get();
  await world.end(2);
  expect(await again).toMatchObject({ value: 2, isCurrent: true });
});

test("a reading that took 10 s serves for 190 s", async () => {
  const world = new World();
  void world.kept.get();
  world.pass(10_000);
  await world.end(1);
  world.pass(189_999);
  expect(await world.kept.get()).toMatchObject({ isCurrent: true });
  world.pass(1);
  void world.kept.get();
  expect(world.readings).toBe(2);
});
