/** A table whose rows end by themselves looks for them until its store closes. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { HOUR_MS } from "../../../../src/base/time.ts";
import { openStore } from "../../../../src/store/store.ts";
import { openExpiringTable } from "../../../../src/store/tables/expiring-table.ts";
import { until } from "../../../support/wait.ts";

test("its looks end with the store, though nobody closed the table", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-expiring-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let nowMs = HOUR_MS;
  const failures: unknown[] = [];
  const store = openStore(folder);
  const table = openExpiringTable<number>({
    store,
    rows: "rows",
    periods: "periods",
    periodMs: 1000,
    clock: { now: () => nowMs, monotonic: () => nowMs },
    onFailure: (error) => failures.push(error),
  });
  await store.act(() => table.put(["a"], 1, nowMs));
  const pass = () => {
    nowMs += HOUR_MS / 6;
    vi.advanceTimersByTime(HOUR_MS / 6);
  };
  // The first look only learns how the clock goes.
  pass();
  pass();
  await until(
    "the row has expired",
    () => table.get(["a"]),
    (seen) => seen === undefined,
  );
  await store.close();
  pass();
  pass();
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures).toEqual([]);
});

test("a row that is put again for a later time stays until that is over", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-expiring-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let nowMs = 0;
  const store = openStore(folder);
  const table = openExpiringTable<number>({
    store,
    rows: "rows",
    periods: "periods",
    periodMs: 1000,
    clock: { now: () => nowMs, monotonic: () => nowMs },
    isOver: (endMs) => endMs <= nowMs,
    onFailure: (error) => expect.fail(String(error)),
  });
  await store.act(() => table.put(["a"], 500, 500));
  await store.act(() => table.put(["a"], 2500, 2500));
  nowMs = 2000;
  await table.sweep();
  expect([table.get(["a"]), [...store.table("periods").range()].length]).toEqual([2500, 1]);
  nowMs = 3000;
  await table.sweep();
  expect([table.get(["a"]), [...store.table("periods").range()].length]).toEqual([undefined, 0]);
  await store.close();
});
