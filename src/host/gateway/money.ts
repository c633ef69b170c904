/** Opens credit, budgets and limits of keys: those of one gateway alone, or of a cell among others. */
import { AccountTables } from "../../account/tables.ts";
import type { CreditReader } from "../../analytics/live/credit-now.ts";
import { bootName } from "../../base/process/boot.ts";
import type { Billing } from "../../billing/open.ts";
import { creditMoney } from "../../billing/rates/quote.ts";
import type { MoneyOfCell } from "../../cluster/cells/money/open.ts";
import type { NearBudgets } from "../../credits/budgets/near-budgets.ts";
import type { CreditBounds } from "../../credits/ledger/accounts.ts";
import type { CreditFall } from "../../credits/ledger/credit-events.ts";
import { type OrgMoney, shownCredit } from "../../credits/ledger/shown-credit.ts";
import { type LimitsRoom, openLimitsRoom } from "../../credits/limits/open.ts";
import { type Money, openMoney, openMoneyTellers } from "../../credits/open.ts";
import type { Ground } from "./ground.ts";

/** Hears of credit that falls: automatic top-ups, whose room opens later. */
interface FallHook {
  readonly watchedBelow: CreditBounds["watchedBelow"];
  onFall(fall: CreditFall): void;
}

export interface OpenMoney extends Money {
  /** Keys and projects of which half of the budget is used. */
  readonly nearBudgets: Pick<NearBudgets, "of">;
  /** Undefined in a gateway alone, which lists its charges itself. */
  readonly ofCell: MoneyOfCell | undefined;
  closeTables(): void;
}

/** @throws Error with a line for the operator, where a cell's folder is a copy of an older state */
export async function openMoneyRoom(ground: Ground, { watchedBelow, onFall }: FallHook): Promise<OpenMoney> {
  const { store, clock, cell, events, jobs, log } = ground;
  const accounts = new AccountTables(store);
  const { closeTables, ...tellers } = openMoneyTellers({
    store,
    clock,
    events,
    watchedBelow,
    onFall,
    lowCredit: (orgId) => accounts.org(orgId)?.creditsLowMicroUsd ?? undefined,
    log,
  });
  // A gateway alone loads nothing of cells.
  const open = cell && (await import("../../cluster/cells/money/open.ts")).openMoneyOfCell;
  const ofCell = open && (await open({ cell, clock, jobs, accounts, tellers, log }));
  const money = ofCell ?? openMoneyAlone(ground, accounts, tellers);
  accounts.watch({ org: money.boundsChanged });
  return { ...money, ofCell, nearBudgets: tellers.near, closeTables };
}

const openMoneyAlone = (
  { store, clock, log }: Ground,
  accounts: AccountTables,
  tellers: Parameters<typeof openMoney>[0]["tellers"],
): Money =>
  openMoney({
    store,
    clock,
    tellers,
    log,
    boot: bootName(),
    orgOf(projectId) {
      const project = accounts.project(projectId);
      const timeZone = accounts.org(project?.orgId ?? "")?.timeZone ?? "UTC";
      return project && { orgId: project.orgId, timeZone };
    },
    lineageOf: accounts.lineageOfId,
  });

/** In which currency an org's credit is shown, and by which rate. */
export const orgMoneyOf =
  ({ fx, terms }: Pick<Billing, "fx" | "terms">, accounts: Pick<AccountTables, "org">) =>
  (orgId: string): OrgMoney =>
    creditMoney(fx, terms, accounts.org(orgId)?.billingCurrency ?? "USD");

/** What a stream of an org's credit shows: what `GET /v1/credits` does, and the spend that budgets count. */
export const creditNow =
  (
    { book, purse, budgets }: Pick<Money, "book" | "purse" | "budgets">,
    billing: Pick<Billing, "fx" | "terms">,
    accounts: Pick<AccountTables, "org">,
  ): CreditReader =>
  async (orgId) => {
    const timeZone = accounts.org(orgId)?.timeZone ?? "UTC";
    const [spend] = await Promise.all([budgets.spendOfOrg({ orgId, timeZone }), book.fresh([orgId])]);
    return { ...shownCredit({ book, purse, orgMoney: orgMoneyOf(billing, accounts) }, orgId), ...spend };
  };

/** A gateway alone loads nothing of cells. */
export async function openKeyLimits({ clock, cell, log }: Ground): Promise<LimitsRoom> {
  if (cell === undefined) return openLimitsRoom(clock);
  const { openLimitsOfCell } = await import("../../cluster/cells/limits/open.ts");
  return openLimitsOfCell(cell, log);
}
