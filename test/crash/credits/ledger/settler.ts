/**
 * The process that the crash test kills: settles calls as fast as the store takes them and prints each one once it
 * is committed, as the last bytes of an answer would leave. Run: `node test/crash/credits/ledger/settler.ts <folder> <seed>`.
 */
import { seededRandom } from "../../../../src/base/clock.ts";
import { openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { openStore } from "../../../../src/store/store.ts";
import { ManualClock, openCredits } from "../../../support/credits/fixtures.ts";
import { say } from "../../../support/say.ts";

const [folder = "", seed = "1"] = process.argv.slice(2);
const clock = new ManualClock("2026-03-01T10:00:00Z");
const random = seededRandom(Number(seed));
const store = openStore(folder);
const credits = openCredits({ store, clock });
const budgets = openBudgets({ store, clock, book: credits.book });
const outbox = store.table<number>("outbox-of-this-test");
const grant = { kind: "grant", amountMicroUsd: 1_000_000_000, refType: "grant", refId: "first" } as const;

async function settleForever(org: string, caller: number): Promise<void> {
  const scope = {
    keyId: `key_${org}_${caller % 3}`,
    projectId: `prj_${org}_${caller % 4}`,
    orgId: org,
    timeZone: "Asia/Kolkata",
  };
  for (let n = 0; ; n++) {
    const requestId = `${seed}-${caller}-${n}`;
    const amountMicroUsd = Math.floor(random() * 500);
    const hold = credits.hold(org, 500);
    const budgetHold = budgets.hold(scope, 500);
    if (hold === undefined || !budgetHold.admitted) throw new Error("refused");
    const putSpend = budgets.charging(budgetHold, amountMicroUsd);
    const also = (entrySeq?: number) => {
      outbox.put([org, requestId], amountMicroUsd);
      putSpend(entrySeq);
    };
    await credits.settle(hold, { requestId, amountMicroUsd, atMs: clock.now(), also });
    say(`${org} ${requestId} ${amountMicroUsd}`);
  }
}

await Promise.all(["org_a", "org_b"].map((org) => credits.post(org, grant)));
await Promise.all(Array.from({ length: 24 }, (_, i) => settleForever(i % 2 ? "org_a" : "org_b", i)));
