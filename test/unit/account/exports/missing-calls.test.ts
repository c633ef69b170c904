/** An org's export of which calls may be missing: it is tried again, and then says from when on. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Exports, exportShape, exportWire, newExport } from "../../../../src/account/exports/export.ts";
import {
  exportPath,
  exportWriter,
  TRIES_FOR_WHOLE,
  writeExport,
} from "../../../../src/account/exports/export-jobs.ts";
import { recordsOf } from "../../../../src/analytics/requests/records-of-org.ts";
import { MINUTE, openRig, type Rig, START } from "../../../support/jobs/fixtures.ts";

const ORG = "org_late";
const SINCE_MS = START - MINUTE;

let rig: Rig;
let exports: Exports;
beforeEach(() => {
  rig = openRig();
  exports = new Exports({ store: rig.store, clock: rig.time, onFailure() {} });
});
afterEach(async () => {
  exports.close();
  await rig.dispose();
});

/** Asks for an export. @param missingSinceMs what the records say at each try, from the first on; then what they said last */
const ask = (...missingSinceMs: (number | undefined)[]) => askFor(["requests.jsonl"], ...missingSinceMs);

async function askFor(files: readonly string[], ...missingSinceMs: (number | undefined)[]) {
  const cell = rig.cell();
  const folder = join(rig.folder, "exports");
  let tries = 0;
  const records = {
    clickhouse: { rows: async () => [] },
    clock: rig.time,
    retentionDays: () => 30,
    waitForInserts: async () => missingSinceMs[Math.min(tries++, missingSinceMs.length - 1)],
  };
  const writer = exportWriter({
    exports,
    clock: rig.time,
    jobs: cell.jobs,
    folder,
    mostBytes: 1_000_000,
    partsOf: (orgId, missing) =>
      files.map((file) => ({ file, rows: () => recordsOf(records, orgId, missing) })),
  });
  cell.jobs.handle(writeExport, writer);
  await cell.jobs.start();
  const asked = newExport(ORG, START);
  const { id } = asked;
  await rig.store.act(() => exports.put(asked));
  await rig.enqueue(cell, writeExport, { key: id, orgId: ORG, payload: { orgId: ORG, id } });
  const row = () => {
    const found = exports.get(ORG, id);
    if (found === undefined) throw new Error(`${id} is not there`);
    return found;
  };
  return {
    cell,
    wire: () => exportShape.parse(exportWire(row())),
    isThere: () => existsSync(exportPath(folder, id)),
    tries: () => tries,
    triedAgain: () => rig.row(writeExport, id)?.state === "waiting",
  };
}

/** Until one more try has failed; then it is time for the next one. */
async function fails({ cell, triedAgain, wire, isThere }: Awaited<ReturnType<typeof ask>>, tries: number) {
  const hasFailed = () => cell.failures.length === tries && triedAgain();
  await rig.until(`try ${tries} has failed (${cell.failures})`, hasFailed);
  expect([wire().status, isThere()]).toEqual(["pending", false]);
  rig.time.advance(writeExport.backoff.mostMs);
}

test("is written once they are there, and then says nothing of them", async () => {
  const asked = await ask(SINCE_MS, undefined);
  await fails(asked, 1);
  await rig.until("it is ready", () => asked.wire().status === "ready");
  expect(asked.wire()).not.toHaveProperty("incomplete_since");
  expect([asked.isThere(), asked.tries()]).toEqual([true, 2]);
  expect(asked.cell.failures.join()).toContain(new Date(SINCE_MS).toISOString());
});

test("is written without them where they do not come, and says so", async () => {
  const asked = await ask(SINCE_MS);
  for (let tries = 1; tries <= TRIES_FOR_WHOLE; tries++) await fails(asked, tries);
  await rig.until("it is ready", () => asked.wire().status === "ready");
  expect(asked.wire()).toMatchObject({ incomplete_since: new Date(SINCE_MS).toISOString() });
  expect([asked.isThere(), asked.tries()]).toEqual([true, TRIES_FOR_WHOLE + 1]);
  // What else may fail has tries, too.
  expect(writeExport.tries).toBeGreaterThan(TRIES_FOR_WHOLE + 1);
});

test("is written at once where calls may be missing that ended after it was asked for", async () => {
  const asked = await ask(START + MINUTE);
  await rig.until("it is ready", () => asked.wire().status === "ready");
  expect(asked.tries()).toBe(1);
});

test("C2: says since when where its ledger and its requests lack calls, each from another time on", async () => {
  const files = ["ledger.jsonl", "requests.jsonl"];
  const asked = await askFor(files, START + MINUTE, START + 3 * MINUTE);
  await rig.until("it is ready", () => asked.wire().status === "ready");
  expect(asked.wire()).toMatchObject({ incomplete_since: new Date(START + MINUTE).toISOString() });
});
