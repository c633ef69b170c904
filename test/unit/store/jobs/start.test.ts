/** What a start costs, and what waiting costs, by what is read and by the timers that are set: not by time, which others share. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seededRandom, type Timers } from "../../../../src/base/clock.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import type { Store, Table } from "../../../../src/store/store.ts";
import { amount } from "../../../support/effort.ts";
import {
  HOUR,
  kindOf,
  openRig,
  type Payload,
  type Rig,
  SECOND,
  START,
} from "../../../support/jobs/fixtures.ts";
import { eachTurn } from "../../../support/turns.ts";

const LANES = amount(20_000, 3_000);
const kind = kindOf({ atOnce: 8 });

let rig: Rig;
beforeEach(() => {
  rig = openRig({ actsTwice: false });
});
afterEach(() => rig.dispose());

/** The jobs of a process whose reads and timers are counted. */
function counted(run: (payload: Payload) => Promise<undefined> | undefined) {
  let rows = 0;
  const waits = new Set<number>();
  const counting = <V>(table: Table<V>): Table<V> => ({
    ...table,
    get(key) {
      rows++;
      return table.get(key);
    },
    *range(range) {
      for (const row of table.range(range)) {
        rows++;
        yield row;
      }
    },
  });
  const store: Store = Object.create(rig.store, {
    table: { value: (name: string) => counting(rig.store.table(name)) },
    act: { value: rig.store.act.bind(rig.store) },
    ifDropped: { value: rig.store.ifDropped.bind(rig.store) },
  });
  const timers: Timers = {
    after(ms, act) {
      waits.add(ms);
      const cancel = rig.time.after(ms, () => {
        waits.delete(ms);
        act();
      });
      return () => {
        waits.delete(ms);
        cancel();
      };
    },
  };
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const common = { clock: rig.time, random: seededRandom(7), holder: "cell_a", onFailure };
  const jobs = new Jobs({ ...common, store, timers });
  jobs.handle(kind, { run });
  /** Rows since the last call. */
  const read = () => {
    const now = rows;
    rows = 0;
    return now;
  };
  return { jobs, read, waits, failures };
}

/** One job in each lane, put by a process that is gone. */
async function fill(lanes: number, dueMs: number): Promise<void> {
  const cell = rig.cell("cell_gone");
  for (let from = 0; from < lanes; from += 1000) {
    const orders = Array.from({ length: Math.min(1000, lanes - from) }, (_, i) => {
      const n = from + i;
      return { key: `k${n}`, orgId: "org", lane: `l${n}`, dueMs: dueMs + n, payload: { n } };
    });
    await rig.enqueue(cell, kind, ...orders);
  }
  await rig.restart();
}

describe("a start", () => {
  test(`reads no more with ${LANES} lanes whose jobs are due later than with none`, async () => {
    const empty = counted(() => undefined);
    await empty.jobs.start();
    await rig.settle();
    const ofNone = empty.read();
    await empty.jobs.stop();
    await fill(LANES, START + HOUR);
    const full = counted(() => undefined);
    await full.jobs.start();
    await rig.settle();
    // The job that is due first, for the timer.
    expect(full.read()).toBe(ofNone + 1);
    expect([full.jobs.metrics().lanes, [...full.waits]]).toEqual([0, [5 * SECOND]]);
    await full.jobs.stop();
  });

  test(`reads ${LANES} lanes whose jobs are due in slices, a turn of the event loop for each, and comes to all`, async () => {
    await fill(LANES, START - HOUR);
    const { jobs, read, failures } = counted(() => undefined);
    await jobs.start();
    let [most, all] = [read(), 0];
    expect(most).toBeLessThan(300);
    const endLooks = eachTurn(() => {
      rig.time.fire();
      const rows = read();
      most = Math.max(most, rows);
      all += rows;
    });
    await rig.until("all have run", () => jobs.metrics().byKind.get(kind.name)?.done === LANES);
    endLooks();
    // Each turn a slice, and the rows of what is claimed and ended.
    expect(most).toBeLessThan(600);
    // Each job once by its time, and its row and those of its lane a few times as it runs.
    expect(all / LANES).toBeLessThan(8);
    expect(failures).toEqual([]);
    await jobs.stop();
  });

  test("counts what was given up beside the start, in slices, and rightly while that changes", async () => {
    const before = rig.cell("cell_gone");
    const failing = kindOf({ tries: 1, atOnce: 256, atOncePerLane: 256 });
    before.jobs.handle(failing, {
      run() {
        throw new Error("no");
      },
    });
    await before.jobs.start();
    const orders = Array.from({ length: 3_000 }, (_, n) => ({ key: `k${n}`, orgId: "org", payload: { n } }));
    await rig.enqueue(before, failing, ...orders);
    await rig.until("all are given up", () => before.jobs.metrics().givenUp === 3_000);
    await rig.restart();
    const { jobs, read } = counted(() => new Promise(() => {}));
    expect(read()).toBeLessThan(600);
    await jobs.start();
    expect(jobs.metrics().givenUp).toBeLessThan(3_000);
    const drop = (key: string) => rig.store.act(() => jobs.drop(kind.name, key));
    // One that was counted and one that was not: ids sort as texts.
    expect([await drop("k0"), await drop("k999")]).toEqual([true, true]);
    await rig.settle();
    expect(jobs.metrics().givenUp).toBe(2_998);
    await drop("k5");
    expect(jobs.metrics().givenUp).toBe(2_997);
  });
});

describe("waiting", () => {
  const order = { key: "a", orgId: "org", payload: { n: 1 } };

  test("costs nothing without jobs: there is no timer, and a job that comes is run at once", async () => {
    const { jobs, read, waits } = counted(() => undefined);
    await jobs.start();
    await rig.settle();
    read();
    expect(waits.size).toBe(0);
    rig.time.advance(24 * HOUR);
    await rig.settle();
    expect([read(), waits.size]).toEqual([0, 0]);
    await rig.store.act(() => jobs.enqueue(kind, order));
    await rig.until("it has run", () => jobs.metrics().byKind.get(kind.name)?.done === 1);
    await rig.settle();
    // The lease was looked after while it ran: that timer rings once more, and is not set again.
    await rig.pass(SECOND * 10);
    expect(waits.size).toBe(0);
  });

  test("for a job that is due soon is one timer to that time", async () => {
    const { jobs, waits } = counted(() => undefined);
    await jobs.start();
    await rig.store.act(() => jobs.enqueue(kind, { ...order, dueMs: START + 4 * SECOND }));
    await rig.settle();
    expect([...waits]).toEqual([4 * SECOND]);
    await rig.store.act(() => jobs.enqueue(kind, { ...order, key: "b", dueMs: START + 2 * SECOND }));
    await rig.settle();
    expect([...waits]).toEqual([2 * SECOND]);
  });

  test("for a job that is due later reads nothing until then", async () => {
    const { jobs, read } = counted(() => undefined);
    await jobs.start();
    await rig.store.act(() => jobs.enqueue(kind, { ...order, dueMs: START + HOUR }));
    await rig.settle();
    read();
    await rig.pass(HOUR - SECOND, 60 * SECOND);
    expect(read()).toBe(0);
    await rig.pass(SECOND);
    expect(jobs.metrics().byKind.get(kind.name)?.done).toBe(1);
  });
});

test("a new job in a quiet lane is run before a backlog that fills another lane was read", async () => {
  await fill(1, START - HOUR);
  const cell = rig.cell("cell_gone");
  const orders = Array.from({ length: 20_000 }, (_, n) => ({
    key: `s${n}`,
    orgId: "org",
    lane: "stuck",
    dueMs: START - HOUR + n,
    payload: { n },
  }));
  for (let from = 0; from < orders.length; from += 2000) {
    await rig.enqueue(cell, kind, ...orders.slice(from, from + 2000));
  }
  await rig.restart();
  let hasRun = false;
  const { jobs, read } = counted(({ n }) => {
    if (n === -1) hasRun = true;
    return n === -1 ? undefined : new Promise(() => {});
  });
  await jobs.start();
  read();
  await rig.store.act(() =>
    jobs.enqueue(kind, { key: "new", orgId: "org", lane: "quiet", payload: { n: -1 } }),
  );
  await rig.until("it has run", () => hasRun);
  expect(read()).toBeLessThan(5_000);
});
