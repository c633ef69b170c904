/** A look at all kinds in which the read of one kind fails. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Store, Table } from "../../../../src/store/store.ts";
import { HOUR, held, kindOf, MINUTE, openRig, type Rig, SECOND } from "../../../support/jobs/fixtures.ts";
import { storeWithActs } from "../../../support/store/acts.ts";

let rig: Rig;
beforeEach(() => {
  rig = openRig();
});
afterEach(() => rig.dispose());

const broken = kindOf({ name: "test.broken" });
const sound = kindOf({ name: "test.sound", leaseMs: HOUR });
/** What is due at once is told, and not read. */
const later = (key: string) => ({ key, orgId: "org", payload: { n: 1 }, dueMs: rig.time.now() + SECOND });

/** A cell whose reads of the one kind fail while `fault.fails`, and whose next act is held where `fault.held` says by what. */
async function faultyCell() {
  const fault: { fails: boolean; held: Promise<unknown> | undefined } = { fails: false, held: undefined };
  const unreadable = <V>(table: Table<V>): Table<V> => ({
    ...table,
    range(range = {}) {
      const [kind] = [range.start].flat();
      if (fault.fails && kind === broken.name) throw new Error("the row cannot be read");
      return table.range(range);
    },
  });
  const faulty = (store: Store): Store => ({
    ...storeWithActs(store, async (act) => {
      const { held: hold } = fault;
      fault.held = undefined;
      await hold;
      return await act();
    }),
    table: (name, versions) => unreadable(store.table(name, versions)),
  });
  const cell = rig.cell("cell_a", false, faulty);
  const run = (_: unknown, { key }: { key: string }) => ({ act: () => rig.count(key) });
  cell.jobs.handle(broken, { run });
  cell.jobs.handle(sound, { run });
  await cell.jobs.start();
  await rig.settle();
  return { cell, fault };
}

const NOT_READ = new Set(["jobs could not be looked at: the row cannot be read"]);

test("a stop waits for the claim of another kind that was under way when a read failed", async () => {
  const { cell, fault } = await faultyCell();
  const claim = held();
  Object.assign(fault, { fails: true, held: claim.promise });
  await rig.store.act(() => {
    cell.jobs.enqueue(broken, later("unread"));
    cell.jobs.enqueue(sound, later("first"));
  });
  await rig.pass(SECOND);
  await rig.until("the first is being claimed", () => fault.held === undefined);
  await rig.enqueue(cell, sound, later("second"));
  await rig.pass(MINUTE);
  let isStopped = false;
  const stopped = cell.jobs.stop().then(() => {
    isStopped = true;
  });
  await rig.settle();
  expect(isStopped).toBe(false);
  claim.resolve(undefined);
  await stopped;
  expect(["first", "second"].map((key) => rig.row(sound, key)?.state)).toEqual(["waiting", "waiting"]);
  expect(new Set(cell.failures)).toEqual(NOT_READ);
});

test("what could not be read is read a second later", async () => {
  const { cell, fault } = await faultyCell();
  fault.fails = true;
  await rig.enqueue(cell, broken, later("a"));
  await rig.pass(10 * SECOND);
  expect([rig.counted("a"), new Set(cell.failures)]).toEqual([0, NOT_READ]);
  fault.fails = false;
  await rig.pass(SECOND);
  expect(rig.counted("a")).toBe(1);
});
