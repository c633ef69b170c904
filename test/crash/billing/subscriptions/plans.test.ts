/**
 * Kill -9 of a process that renews subscriptions: each month is paid once, whatever was under way, and the books are those of a
 * process that never died.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import { expectBooks } from "../../../support/billing/books.fixtures.ts";
import { openPlans } from "../../../support/billing/plans.fixtures.ts";
import { amount } from "../../../support/effort.ts";
import { startWorker } from "../../../support/worker.ts";

const KILLS = amount(60, 8);
const SEED = Number(process.env.WEIR_CRASH_SEED ?? 20_261_123);
const WORKER = join(import.meta.dirname, "plans.worker.ts");
const LAST_DAY = 130;
/** Places at which the worker can kill itself, about. */
const STEPS = 90;
const home = mkdtempSync(join(tmpdir(), "weir-crash-plans-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** @returns the first day that is not known to be over; undefined at the end, and whether it was killed */
async function work(folder: string, firstDay: number, step: number) {
  const worker = startWorker(WORKER, [folder, firstDay, LAST_DAY, step]);
  const [, signal] = await worker.end();
  const days = worker.said("day").map(Number);
  return { nextDay: (days.at(-1) ?? firstDay - 1) + 1, wasKilled: signal === "SIGKILL" };
}

/** Kind, amount and month of each entry, by org. */
async function booksOf(folder: string) {
  const plans = openPlans({ folder, actsTwice: false });
  const orgs = ["one", "two", "three", "four"].map((slug) => plans.rooms.accounts.orgBySlug(slug)?.id ?? "");
  const books = orgs.map((orgId) => {
    expectBooks(plans, orgId);
    const { id: _, orgId: __, lastChange: ___, ...row } = plans.row(orgId) ?? {};
    const entries = plans.ledger(orgId).map((entry) => {
      const ref = entry.kind === "settle" ? "" : entry.refId.replace(/^sub_\w+/, "");
      return `${entry.kind} ${entry.amountMicroUsd} ${ref}`;
    });
    return { entries, row, events: plans.eventTypes(orgId), jobs: plans.due(orgId).length };
  });
  const numbers = orgs.flatMap((orgId) => plans.statements(orgId).map(({ number }) => number)).sort();
  await plans.dispose();
  return { books, numbers };
}

test(`kill -9 while subscriptions are renewed, ${KILLS} times: the books are those of a process that never died`, async () => {
  const whole = join(home, "whole");
  const killed = join(home, "killed");
  expect(await work(whole, 0, 0)).toEqual({ nextDay: LAST_DAY + 1, wasKilled: false });

  const random = seededRandom(SEED);
  let day = 0;
  let kills = 0;
  while (kills < KILLS && day <= LAST_DAY) {
    const found = await work(killed, day, 1 + Math.floor(random() * Math.max(4, STEPS / KILLS)));
    if (!found.wasKilled) break;
    kills++;
    day = found.nextDay;
  }
  expect(kills).toBeGreaterThan(KILLS / 2);
  await work(killed, day, 0);

  const expected = await booksOf(whole);
  expect(
    expected.books.map(({ entries }) => entries.filter((e) => e.startsWith("subscription")).length),
  ).toEqual([5, 2, 6, 3]);
  expect(await booksOf(killed)).toEqual(expected);
});
