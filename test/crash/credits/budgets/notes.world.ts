/** An org whose budgets are used up by a list of charges, one at a time, as a gateway alone makes them. */
import type { BudgetScope } from "../../../../src/credits/budgets/budget.ts";
import { type Money, openMoney, openMoneyTellers } from "../../../../src/credits/open.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";
import { trailOn } from "../../../support/trail.fixtures.ts";

export const ORG = "org_1";
const PROJECT = "prj_1";
export const DAY = "2026-03-10";
export const MONTH = "2026-03";
const AT = "2026-03-10T10:00:00Z";
const TIME_ZONE = "Asia/Kolkata";
const FUNDS = { kind: "grant", amountMicroUsd: 1_000_000, refType: "grant", refId: "first" } as const;

interface Charge {
  readonly keyId: string;
  /** Whose budget it has. */
  readonly lineageId: string;
  readonly microUsd: number;
}

const of = (keyId: string, microUsd: number, lineageId = keyId): Charge => ({ keyId, lineageId, microUsd });

/** The first one uses half of nothing. Then half of a key's budget is used, more than all of it, half of a project's, half of another key's, and more. */
export const CHARGES: readonly Charge[] = [
  of("key_1", 49),
  of("key_1", 1),
  of("key_1", 51),
  of("key_2", 40),
  of("key_2", 20),
  // It took the place of key_2.
  of("key_3", 20, "key_2"),
  of("key_4", 10),
];
export const LIMITS = { key: 100, project: 280 };

const scopeOf = ({ keyId, lineageId }: Pick<Charge, "keyId" | "lineageId">): BudgetScope => ({
  orgId: ORG,
  projectId: PROJECT,
  keyId,
  lineageId,
  timeZone: TIME_ZONE,
  keyDaily: { limitMicroUsd: LIMITS.key, hard: false },
  projectMonthly: { limitMicroUsd: LIMITS.project, hard: false },
});

export interface NotesWorld {
  readonly store: Store;
  /** How many of the charges are in the store. */
  made(): number;
  /** Makes the next charge, in an act of its own. */
  charge(): Promise<void>;
  /** What is noted and told now. */
  told(): { readonly keys: string[]; readonly projects: string[]; readonly usedUp: string[] };
  spent(lineageId: string): number;
  spentOfProject(): number;
  close(): Promise<void>;
}

export function openNotes(folder: string): NotesWorld {
  const clock = new ManualClock(AT);
  const store = openStore(folder);
  const trail = trailOn(store, clock);
  const log = {
    warn() {},
    error(fields: object) {
      throw new Error(JSON.stringify(fields));
    },
  };
  const none = () => undefined;
  const bounds = { lowCredit: none, watchedBelow: none };
  const tellers = openMoneyTellers({ ...bounds, store, clock, events: trail.events, onFall() {}, log });
  const orgOf = () => ({ orgId: ORG, timeZone: TIME_ZONE });
  const { purse, book, budgets }: Money = openMoney({
    store,
    clock,
    tellers,
    log,
    orgOf,
    lineageOf: (keyId) => CHARGES.find((charge) => charge.keyId === keyId)?.lineageId ?? keyId,
  });
  const made = store.table<number>("made-of-this-test");
  const madeSoFar = () => made.get("count") ?? 0;
  return {
    store,
    made: madeSoFar,
    async charge() {
      if (madeSoFar() === 0) await store.act(() => book.post(ORG, FUNDS));
      const charge = CHARGES[madeSoFar()];
      if (charge === undefined) throw new Error("all charges are made");
      const { microUsd } = charge;
      const hold = await purse.hold(ORG, microUsd);
      const budgetHold = await budgets.hold(scopeOf(charge), microUsd);
      if (hold === undefined || !budgetHold.admitted) throw new Error("refused");
      const countSpend = budgets.charging(budgetHold, microUsd);
      await store.act(() => {
        const requestId = `req_${madeSoFar()}`;
        const { entry } = purse.settle(hold, { requestId, amountMicroUsd: microUsd, atMs: clock.now() });
        countSpend(entry?.seq);
        made.put("count", madeSoFar() + 1);
      });
    },
    told: () => ({
      keys: tellers.near.of(ORG, "key", DAY, 100),
      projects: tellers.near.of(ORG, "project", MONTH, 100),
      usedUp: trail.eventsOf(ORG).map(({ type, data }) => {
        const { budget, key_id: keyId } = data as { budget: string; key_id: string };
        return `${type} ${budget} ${keyId}`;
      }),
    }),
    spent: (lineageId) => sumOf(({ lineageId: other }) => other === lineageId, madeSoFar()),
    spentOfProject: () => sumOf(() => true, madeSoFar()),
    async close() {
      tellers.closeTables();
      trail.close();
      await store.close();
    },
  };
}

const sumOf = (isCounted: (charge: Charge) => boolean, made: number): number =>
  CHARGES.slice(0, made)
    .filter(isCounted)
    .reduce((sum, { microUsd }) => sum + microUsd, 0);
