/** When a cell's rows may be read, and how often unknown credentials have it look at Redis. */
import { expect, onTestFinished, test, vi } from "vitest";
import { Reads } from "../../../../../src/cluster/cells/replica/reads.ts";

/** A cell in touch that heard a moment ago, unless told. */
function readsOf() {
  const heard: (() => void)[] = [];
  const reached: { version: number; done: () => void }[] = [];
  const state = { version: 7, latest: 7, ageMs: 100, isCurrent: true, looks: 0 };
  let caughtUp = () => Promise.resolve();
  const reads = new Reads({
    // It stands still where `withOwnTime` was not called.
    clock: { monotonic: () => Number(vi.getMockedSystemTime()) },
    beats: {
      get latest() {
        return { version: state.latest, least: 0, restating: 0, format: 0, alive: 1 };
      },
      ageMs: () => state.ageMs,
      heard: () => new Promise((resolve) => void heard.push(resolve)),
    },
    follower: {
      get version() {
        return state.version;
      },
      reached: (version) => new Promise((done) => void reached.push({ version, done })),
    },
    isCurrent: () => state.isCurrent,
    currentSoon: async () => state.isCurrent,
    caughtUp() {
      state.looks++;
      return caughtUp();
    },
  });
  return {
    reads,
    state,
    reached,
    beat(latest: number) {
      Object.assign(state, { latest, ageMs: 1 });
      for (const hear of heard.splice(0)) hear();
    },
    apply(version: number) {
      state.version = version;
      for (const { done } of reached.splice(0)) done();
    },
    looksTake(made: () => Promise<void>) {
      caughtUp = made;
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a cell that heard lately and lacks nothing reads at once", () => {
  expect(readsOf().reads.current()).toBeUndefined();
});

/** Time goes on by `vi.advanceTimersByTimeAsync` only, and so does the clock. */
function withOwnTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
}

test("a cell that lacks a version waits for it, and for no later one; all wait together", async () => {
  withOwnTime();
  const { reads, state, reached, apply } = readsOf();
  state.latest = 9;
  const asked = [reads.current(), reads.current()];
  await turn();
  expect(reached.map(({ version }) => version)).toEqual([9]);
  state.latest = 12;
  apply(9);
  expect(await Promise.all(asked)).toEqual([true, true]);
});

test("a cell that does not get a version it lacks says so after a second", async () => {
  withOwnTime();
  const { reads, state } = readsOf();
  state.latest = 9;
  const asked = reads.current();
  await vi.advanceTimersByTimeAsync(999);
  expect(await Promise.race([asked, turn().then(() => "waits")])).toBe("waits");
  await vi.advanceTimersByTimeAsync(1);
  expect(await asked).toBe(false);
});

test("a cell that should have heard a beat waits for it, and for what it tells", async () => {
  withOwnTime();
  const { reads, state, beat, apply } = readsOf();
  state.ageMs = 1000;
  const asked = reads.current();
  await turn();
  beat(8);
  await turn();
  expect(await Promise.race([asked, turn().then(() => "waits")])).toBe("waits");
  apply(8);
  expect(await asked).toBe(true);
});

test("a cell that nobody waits for any more reads what it has, until it is not in touch", async () => {
  withOwnTime();
  const { reads, state } = readsOf();
  state.ageMs = 1950;
  const asked = reads.current();
  await vi.advanceTimersByTimeAsync(20);
  state.ageMs = 2000;
  await vi.advanceTimersByTimeAsync(30);
  expect(await asked).toBe(true);
  expect(reads.current()).toBeUndefined();
  state.isCurrent = false;
  expect(await reads.current()).toBe(false);
});

test("all who look at once share a look, and looks that follow each other have a rest", async () => {
  withOwnTime();
  const { reads, state } = readsOf();
  expect(await Promise.all(Array.from({ length: 1000 }, () => reads.look()))).not.toContain(false);
  expect(state.looks).toBe(1);
  for (let looks = 2; looks < 5; looks++) {
    const look = reads.look();
    await vi.advanceTimersByTimeAsync(249);
    expect(state.looks).toBe(looks - 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await look).toBe(true);
    expect(state.looks).toBe(looks);
  }
});

test("who asks while a look is under way gets the next one: that one may have missed what it asks for", async () => {
  const { reads, state, looksTake } = readsOf();
  const { promise, resolve } = Promise.withResolvers<void>();
  looksTake(() => promise);
  const first = reads.look();
  await turn();
  const second = reads.look();
  await turn();
  expect(state.looks).toBe(1);
  looksTake(() => Promise.resolve());
  resolve();
  expect(await Promise.all([first, second])).toEqual([true, true]);
  expect(state.looks).toBe(2);
});

test("a look that takes longer than a second, or fails, says so; there is never a second one beside it", async () => {
  const { reads, state, looksTake } = readsOf();
  const { promise, reject } = Promise.withResolvers<void>();
  looksTake(() => promise);
  expect(await Promise.all([reads.look(), reads.look()])).toEqual([false, false]);
  expect(await reads.look()).toBe(false);
  expect(state.looks).toBe(1);
  const late = reads.look();
  reject(new Error("this process may not go on"));
  expect(await late).toBe(false);
});
