import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SuspectSlot } from "../../../../src/store/jobs/interruption.ts";
import type { DueJob } from "../../../../src/store/jobs/job-tables.ts";
import { Lanes, type LanesMemory } from "../../../../src/store/jobs/lanes.ts";
import { amount, rounds } from "../../../support/effort.ts";
import { heapBytes } from "../../../support/heap.ts";
import { HOUR, MINUTE, START } from "../../../support/jobs/fixtures.ts";

/** No lane here is that of suspects. */
const suspectSlot = new SuspectSlot(() => {});
const onUnread = (error: unknown) => {
  throw error;
};

/** The index of due times, in the plainest form: all waiting jobs, sorted when they are read. */
class PlainIndex {
  readonly waiting = new Map<string, DueJob>();
  readonly running = new Map<string, DueJob>();
  readonly lanes: Lanes;
  readonly #atOncePerLane: number;
  #keys = 0;

  constructor(atOncePerLane: number, memory?: LanesMemory) {
    this.#atOncePerLane = atOncePerLane;
    const read = (lane: string, limit: number) => this.inLane(lane).slice(0, limit);
    this.lanes = new Lanes({ atOncePerLane, read, suspectSlot, onUnread, ...(memory && { memory }) });
  }

  inLane(lane: string): DueJob[] {
    const jobs = [...this.waiting.values()].filter((job) => job.lane === lane);
    return jobs.sort((a, b) => a.dueMs - b.dueMs || (a.key < b.key ? -1 : 1));
  }

  runningIn = (lane: string): number => [...this.running.values()].filter((job) => job.lane === lane).length;

  hasRoom = (lane: string): boolean => this.runningIn(lane) < this.#atOncePerLane;

  /** As the store does: all changes are there before the first one is told. */
  commit(added: readonly DueJob[], removed: readonly DueJob[] = []): void {
    for (const job of removed) this.waiting.delete(job.key);
    for (const job of added) this.waiting.set(job.key, job);
    for (const job of removed) this.lanes.remove(job);
    for (const job of added) this.lanes.add(job);
  }

  job(lane: string, dueMs: number): DueJob {
    return { kind: "kind", lane, dueMs, key: `k${String(this.#keys++).padStart(7, "0")}` };
  }

  /** As the runner does. @returns what it has claimed */
  take(most: number, nowMs: number, isRefused = false): DueJob[] {
    const taken = this.lanes.take(most, nowMs);
    expect(taken.length).toBeLessThanOrEqual(most);
    for (const job of taken) expect(job.dueMs).toBeLessThanOrEqual(nowMs);
    if (isRefused) {
      for (const job of taken) {
        this.lanes.add(job);
        this.lanes.ended(job.lane);
      }
      return [];
    }
    // One that is taken a second time before its claim is told is claimed once.
    const isClaimed = taken.map((job) => this.waiting.delete(job.key));
    const claimed = taken.filter((_, i) => isClaimed[i]);
    for (const job of claimed) this.running.set(job.key, job);
    for (const job of claimed) this.lanes.remove(job);
    taken.forEach((job, i) => {
      if (!isClaimed[i]) this.lanes.ended(job.lane);
    });
    for (const { lane } of claimed) expect(this.runningIn(lane)).toBeLessThanOrEqual(this.#atOncePerLane);
    return claimed;
  }

  end(job: DueJob, again?: number): void {
    this.running.delete(job.key);
    if (again !== undefined) this.commit([{ ...job, dueMs: again }]);
    this.lanes.ended(job.lane);
  }
}

const lane = fc.constantFrom("a", "b", "c");
const inMs = fc.integer({ min: -2, max: 9 });
/** More is taken and ended than comes, so that lanes are often empty, and begin anew. */
const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant("add"), lane, inMs, count: fc.constantFrom(1, 1, 1, 4) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("add"), lane, inMs, count: fc.constantFrom(10, 30, 300) }),
  },
  {
    weight: 15,
    arbitrary: fc.record({
      do: fc.constant("take"),
      most: fc.constantFrom(0, 1, 1, 1, 2, 8),
      isRefused: fc.nat(9).map((n) => n === 0),
    }),
  },
  {
    weight: 15,
    arbitrary: fc.record({
      do: fc.constant("end"),
      which: fc.nat(9),
      againInMs: fc.option(inMs, { nil: undefined, freq: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("drop"),
      lane,
      which: fc.nat(),
      count: fc.constantFrom(1, 1, 10, 200),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("pass"), ms: fc.integer({ min: -5, max: 8 }) }) },
);
/** Bounds that are met all the time, and those of the product. */
const SMALL: LanesMemory = { perLane: 8, inAll: 20, atLeast: 2, outdated: 4 };
const memory = fc.constantFrom(SMALL, SMALL, undefined);
type Step = typeof step extends fc.Arbitrary<infer S> ? Partial<S> & { do: string } : never;

/** Applies a step. @returns the time behind it */
function apply(index: PlainIndex, nowMs: number, { do: what, ...step }: Step): number {
  const { lane = "", inMs = 0, count = 0, most = 0, which = 0, ms = 0 } = step as Record<string, never>;
  if (what === "add")
    index.commit(Array.from({ length: count }, (_, i) => index.job(lane, nowMs + inMs + (i % 3))));
  else if (what === "take") index.take(most, nowMs, (step as { isRefused?: boolean }).isRefused);
  else if (what === "drop") index.commit([], index.inLane(lane).slice(which % 3, (which % 3) + count));
  else if (what === "end") {
    const running = [...index.running.values()];
    const job = running[which % (running.length || 1)];
    const { againInMs } = step as { againInMs?: number };
    if (job !== undefined) index.end(job, againInMs === undefined ? undefined : nowMs + againInMs);
  }
  return what === "pass" ? nowMs + ms : nowMs;
}

/** Takes until nothing comes. */
function exhaust(index: PlainIndex, nowMs: number): DueJob[] {
  const all: DueJob[] = [];
  for (let idle = 0; idle < 3; ) {
    const claimed = index.take(64, nowMs);
    all.push(...claimed);
    idle = claimed.length === 0 ? idle + 1 : 0;
  }
  return all;
}

/** No lane that has room has a job that is due, and the next look is in time for the next one that will be. */
function expectNoneForgotten(index: PlainIndex, nowMs: number): void {
  for (const name of new Set([...index.waiting.values()].map((job) => job.lane))) {
    const [first] = index.inLane(name);
    if (first === undefined || !index.hasRoom(name)) continue;
    expect(first.dueMs).toBeGreaterThan(nowMs);
    expect(index.lanes.nextMs() ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(first.dueMs);
  }
}

describe("for any order of jobs that come, run, end, fail, wait and are dropped", () => {
  test("no lane is over its limit, nothing runs early, and nothing that is due is forgotten", () => {
    const schedules = fc.array(fc.tuple(step, fc.nat(7)), { minLength: 5, maxLength: 80, size: "max" });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), memory, schedules, (atOncePerLane, bounds, steps) => {
        const index = new PlainIndex(atOncePerLane, bounds);
        let nowMs = START;
        for (const [one, looksAt0] of steps) {
          nowMs = apply(index, nowMs, one as Step);
          if (looksAt0 > 0) continue;
          exhaust(index, nowMs);
          expectNoneForgotten(index, nowMs);
        }
        nowMs += MINUTE;
        for (let left = index.waiting.size; left > 0; left = index.waiting.size) {
          for (const job of [...index.running.values()]) index.end(job);
          exhaust(index, nowMs);
          expect(index.waiting.size).toBeLessThan(left);
        }
        for (const job of [...index.running.values()]) index.end(job);
        exhaust(index, nowMs);
        expect([index.lanes.size, index.lanes.nextMs()]).toEqual([0, undefined]);
      }),
      { numRuns: rounds(1_000) },
    );
  });
});

describe("a lane", () => {
  test("that ends while it is listed for its turn takes nothing with it that comes after", () => {
    const index = new PlainIndex(4);
    index.commit([index.job("a", START)]);
    const [job] = index.take(1, START);
    if (job === undefined) expect.fail("nothing was taken");
    index.end(job);
    index.commit([index.job("a", START + 10)]);
    index.take(1, START);
    expect(index.take(1, START + 10)).toHaveLength(1);
  });

  test("runs its jobs in the order of their due times, also those that it does not keep in memory", () => {
    const index = new PlainIndex(4);
    const jobs = Array.from({ length: 1_500 }, (_, i) => index.job("a", START + ((i * 7919) % 1_500)));
    for (const job of jobs) index.commit([job]);
    const ran: DueJob[] = [];
    while (index.waiting.size > 0) {
      for (const job of index.take(4, START + 1_500)) {
        ran.push(job);
        index.end(job);
      }
    }
    expect(ran.map(({ dueMs }) => dueMs - START)).toEqual(Array.from({ length: 1_500 }, (_, i) => i));
  });
});

describe("turns", () => {
  test("are fair: of lanes that are due none runs a second job before each has run one", () => {
    const index = new PlainIndex(3);
    const names = Array.from({ length: 50 }, (_, i) => `lane ${i}`);
    // One has a thousand times the jobs of the others, and had them first.
    index.commit(Array.from({ length: 3_000 }, () => index.job("lane 0", START - HOUR)));
    index.commit(names.flatMap((name) => [1, 2, 3].map(() => index.job(name, START))));
    const ran = new Map(names.map((name) => [name, 0]));
    for (let taken = 0; taken < 150; ) {
      for (const { lane: name } of index.take(7, START)) {
        ran.set(name, (ran.get(name) ?? 0) + 1);
        taken++;
        expect(Math.max(...ran.values()) - Math.min(...ran.values())).toBeLessThanOrEqual(1);
      }
    }
    expect(new Set(ran.values())).toEqual(new Set([3]));
  });

  test("go on where they were: a lane whose job ends waits behind those that are due", () => {
    const index = new PlainIndex(1);
    const names = ["a", "b", "c"];
    for (const name of names) index.commit([1, 2, 3, 4].map(() => index.job(name, START)));
    const ran: string[] = [];
    while (ran.length < 12) {
      for (const job of index.take(1, START)) {
        ran.push(job.lane);
        index.end(job);
      }
    }
    const turns = [0, 3, 6, 9].map((from) => ran.slice(from, from + 3).join(""));
    expect([...(turns[0] ?? "")].sort()).toEqual(names);
    expect(new Set(turns).size).toBe(1);
  });
});

test("a lane that cannot be read loses no job, holds up no other, and goes on once it can be read", () => {
  let fails = false;
  const unread: unknown[] = [];
  const waiting = new Map<string, DueJob>();
  const lanes = new Lanes({
    atOncePerLane: 1,
    suspectSlot,
    memory: { perLane: 4, inAll: 100, atLeast: 2, outdated: 10 },
    read(lane, limit) {
      if (fails) throw new Error("the row cannot be read");
      return [...waiting.values()].filter((job) => job.lane === lane).slice(0, limit);
    },
    onUnread: (error) => unread.push(error),
  });
  for (let n = 0; n < 6; n++) {
    const job = { kind: "kind", lane: "long", dueMs: n, key: `long ${n}` };
    waiting.set(job.key, job);
    lanes.add(job);
  }
  const other = { kind: "kind", lane: "short", dueMs: 3, key: "short" };
  waiting.set(other.key, other);
  lanes.add(other);
  const ran: string[] = [];
  const run = (nowMs: number) => {
    for (const job of lanes.take(10, nowMs)) {
      // Read once more before its claim was told: a claim of it finds nothing.
      if (waiting.delete(job.key)) ran.push(job.key);
      lanes.ended(job.lane);
    }
  };
  fails = true;
  // What is in memory, and the other lane.
  for (let n = 0; n < 4; n++) run(10);
  const before = ran.length;
  expect(ran).toContain("short");
  expect(unread.length).toBeGreaterThan(0);
  expect(lanes.nextMs()).toBe(1010);
  run(1010);
  expect([ran.length, lanes.nextMs()]).toEqual([before, 2010]);
  fails = false;
  for (let n = 0; n < 8; n++) run(2010 + n);
  expect(ran.filter((key) => key !== "short")).toEqual([0, 1, 2, 3, 4, 5].map((n) => `long ${n}`));
  expect(lanes.size).toBe(0);
});

/** Bytes that lanes keep. @param read what the store would answer */
function bytesOf(
  fill: (lanes: Lanes) => void,
  read: (lane: string, limit: number) => DueJob[] = () => [],
): number {
  const before = heapBytes();
  const lanes = new Lanes({ atOncePerLane: 4, read, suspectSlot, onUnread });
  fill(lanes);
  const bytes = heapBytes() - before;
  // Used behind the measurement, so that they are not garbage in it.
  expect(lanes.nextMs()).not.toBe(-1);
  return bytes;
}

const MB = 1024 * 1024;
/** With texts of its own, as a row of the store that was just read has. */
const read = (name: string, n: number): DueJob => ({
  kind: `kind ${n % 1}`,
  lane: `lane ${name}`,
  dueMs: START + n,
  key: `job_${String(n).padStart(26, "0")}`,
});

describe("memory", () => {
  test("of 200,000 waiting jobs in one lane is that of a few hundred", () => {
    const bytes = bytesOf((lanes) => {
      for (let n = 0; n < 200_000; n++) lanes.add(read("a", n));
    });
    console.log(`200,000 jobs in one lane: ${Math.round(bytes / 1024)} KB`);
    expect(bytes).toBeLessThan(1 * MB);
  });

  test("of 20,000 lanes is within its bound, however many jobs each of them has", () => {
    for (const jobs of [10, amount(1_000, 40)]) {
      const bytes = bytesOf((lanes) => {
        for (let n = 0; n < jobs; n++)
          for (let name = 0; name < 20_000; name++) lanes.add(read(String(name), n));
      });
      console.log(`20,000 lanes with ${jobs} jobs each: ${Math.round(bytes / MB)} MB`);
      expect(bytes).toBeLessThan(32 * MB);
    }
  });

  test("does not grow with the jobs that pass through lanes in which others wait", () => {
    const bytes = bytesOf((lanes) => {
      lanes.add({ ...read("a", 0), dueMs: START + 1000 * HOUR });
      for (let n = 0; n < 200_000; n++) {
        const job = read("a", n);
        lanes.add(job);
        for (const { lane: name } of lanes.take(64, job.dueMs)) lanes.ended(name);
        // One that is asked for and dropped, in a lane of its own.
        lanes.add({ ...job, lane: String(n), dueMs: START + 2000 * HOUR });
        lanes.remove({ ...job, lane: String(n), dueMs: START + 2000 * HOUR });
      }
      expect(lanes.nextMs()).toBeLessThanOrEqual(START + 1000 * HOUR);
      expect(lanes.take(64, START + 1000 * HOUR)).toHaveLength(1);
    });
    console.log(`200,000 jobs that passed: ${Math.round(bytes / 1024)} KB`);
    expect(bytes).toBeLessThan(1 * MB);
  });
});
