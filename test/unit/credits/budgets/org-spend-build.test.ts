/**
 * A data folder of a release that kept no spend of orgs: its keys' rows are summed once, before the first call, with those of
 * deleted projects, and nothing counts twice afterwards.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { ManualClock, openCredits, type TestCredits, tempStore } from "../../../support/credits/fixtures.ts";

const ORG = { orgId: "org_1", timeZone: "Asia/Kolkata" };
const OTHER = { orgId: "org_2", timeZone: "UTC" };
/** Deleted projects keep their rows; of an unknown one nothing is known. */
const PROJECTS: Readonly<Record<string, typeof ORG>> = { prj_1: ORG, prj_deleted: ORG, prj_other: OTHER };

let disk: ReturnType<typeof tempStore>;
let clock: ManualClock;
let credits: TestCredits;
let asked: string[];
beforeEach(async () => {
  disk = tempStore();
  clock = new ManualClock("2026-03-14T10:00:00Z");
  credits = openCredits({ store: disk.store, clock });
  asked = [];
  await credits.post("org_1", { kind: "grant", amountMicroUsd: 1e9, refType: "grant", refId: "first" });
});
afterEach(() => disk.dispose());

const open = (): LocalBudgets =>
  openBudgets({
    store: disk.store,
    clock,
    book: credits.book,
    orgOf(projectId) {
      asked.push(projectId);
      return PROJECTS[projectId];
    },
  });
async function put(rows: Record<string, readonly unknown[]>) {
  const table = disk.store.table("spend");
  await disk.store.act(() => {
    for (const [key, row] of Object.entries(rows)) table.put(key.split(" "), row);
  });
}
const at = (iso: string) => Date.parse(iso);
async function charge(budgets: LocalBudgets, projectId: string, amountMicroUsd: number) {
  const hold = budgets.hold({ keyId: "key_1", projectId, ...ORG }, amountMicroUsd);
  const credit = credits.hold("org_1", amountMicroUsd);
  if (!hold.admitted || credit === undefined) throw new Error("refused");
  const requestId = `R${clock.now()}`;
  const also = budgets.charging(hold, amountMicroUsd);
  await credits.settle(credit, { requestId, amountMicroUsd, atMs: clock.now(), also });
}
const spent = (budgets: LocalBudgets, org = ORG) => {
  const { todayMicroUsd, monthMicroUsd } = budgets.spendOfOrg(org);
  return [todayMicroUsd, monthMicroUsd];
};

test("an org has what its keys' rows say of today and this month, of every release", async () => {
  await put({
    // A row of 0.1.0: the newest day, micro-USD of that day and of its month.
    "prj_1 key_1": ["2026-03-14", 900, 4_000],
    "prj_1 key_2": ["2026-02-27", 100, 5_000],
    // A row of the release before this one: span, time, micro-USD.
    "prj_deleted key_3": [
      1,
      at("2026-02-28T12:00:00Z"),
      70,
      1,
      at("2026-03-13T18:29:00Z"),
      30,
      1,
      at("2026-03-13T18:31:00Z"),
      5,
    ],
    "prj_other key_4": [1, at("2026-03-14T09:00:00Z"), 11],
    "prj_unknown key_5": [1, at("2026-03-14T09:00:00Z"), 13],
  });
  const budgets = open();
  expect([spent(budgets), spent(budgets, OTHER)]).toEqual([
    [905, 4_035],
    [11, 11],
  ]);
});

test("it is summed once, and what is charged then counts once, also after restarts", async () => {
  await put({ "prj_1 key_1": ["2026-03-14", 900, 4_000] });
  // Entries of before are in the keys' rows already.
  const hold = credits.hold("org_1", 900);
  if (hold !== undefined)
    await credits.settle(hold, { requestId: "R", amountMicroUsd: 900, atMs: clock.now() });
  await charge(open(), "prj_1", 60);
  for (let day = 0; day < 3; day++) {
    await disk.reopen();
    credits = openCredits({ store: disk.store, clock });
    const budgets = open();
    expect(spent(budgets)).toEqual([day === 0 ? 960 : 7, 4_060 + 7 * day]);
    clock.advance(86_400_000);
    await charge(budgets, "prj_1", 7);
  }
  expect(asked).toEqual(["prj_1"]);
});

test("a start that was killed before the sums were whole does it again", async () => {
  await put({ "prj_1 key_1": ["2026-03-14", 900, 4_000] });
  open();
  await disk.store.act(() => disk.store.table("spend.orgs_built").remove("keys"));
  expect(spent(open())).toEqual([900, 4_000]);
});

test("a folder without any spend begins at nothing", async () => {
  await charge(open(), "prj_1", 5);
  expect(spent(open())).toEqual([5, 5]);
});
