/** Cells of two releases: the later one keeps more in the rows of `things`. */
import { expect } from "vitest";
import type { RowVersions } from "../../../../../src/store/store.ts";
import { until } from "../../../../support/wait.ts";
import type { Bench, TestCell } from "../fixtures.ts";

export const EARLIER = { formats: { oldest: 1, newest: 1 } };
export const LATER = { formats: { oldest: 1, newest: 2 } };

/** What the later release keeps in rows of `things`; the earlier one kept the size alone. */
interface Thing {
  readonly size: number;
  readonly color: string;
}
const VERSIONS: RowVersions<Thing> = {
  version: 2,
  upgrade: (row) => ({ size: row as number, color: "unknown" }),
  older: { beforeFormat: 2, version: 1, downgrade: ({ size }) => size },
};
export const later = ({ store }: TestCell) => store.table<Thing>("things", VERSIONS);
export const earlier = ({ store }: TestCell) => store.table<number>("things");
export const put = (cell: TestCell, key: string) =>
  cell.store.act(() => later(cell).put(key, { size: key.length, color: "red" }));

/** Beats tell the format. */
export const formatIn = async (cell: TestCell) =>
  (await cell.lane("beat").send([["beat", cell.version()]]))[0]?.[4];

/** A cell of the earlier release that has met rows of the later one, and one that wrote them. */
export async function outdatedCell(
  bench: Bench,
): Promise<{ readonly old: TestCell; readonly fresh: TestCell }> {
  const [old, fresh] = [await bench.cell("old", EARLIER), await bench.cell("fresh", LATER)];
  await put(fresh, "one");
  // As a failover does that lost its registration.
  await bench.link.call("HDEL", "{weir}:formats", "old");
  await fresh.caughtUp();
  expect(await formatIn(fresh)).toBe(2);
  await fresh.caughtUp();
  const pending = old.store.act(() => earlier(old).put("by old", 1)).catch((error: unknown) => error);
  await put(fresh, "two");
  await until(
    "the older cell knows that it is outdated",
    () => old.outdated()?.message,
    (seen = "") => /format 2.*reads up to 1/.test(seen),
  );
  await pending;
  return { old, fresh };
}
