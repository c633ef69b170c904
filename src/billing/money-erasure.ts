/**
 * What the room of billing removes of an org that is erased. Rows of money stay, for the books: what goes is what a client or a person
 * wrote, and what could be debited. Mandates end at the payment gateway first, as long as it answers within an hour; after that their
 * registration's id, which is kept, is enough to end them, and the job goes on.
 */
import type { ErasureStep, Position } from "../account/erasure/erasure-steps.ts";
import type { AccountTables } from "../account/tables.ts";
import type { Jobs } from "../store/jobs/jobs.ts";
import type { Store } from "../store/store.ts";
import { endMandate } from "./mandates/jobs.ts";
import type { MandateRow } from "./mandates/mandate.ts";
import { cancelAll, endAtGateway, type MandateDeps } from "./mandates/moves.ts";
import type { RefundRow } from "./refunds/refund.ts";
import type { RefundTables } from "./refunds/tables.ts";
import type { SubscriptionTables } from "./subscriptions/tables.ts";
import type { TopupTables } from "./topups/tables.ts";
import { isPaid, type TopupRow } from "./topups/topup.ts";
import { MOST_WATCHED_MS } from "./topups/watch.ts";

/** A payment gateway that is away holds the erasure up no longer than this. */
const MOST_ENDING_MS = 3_600_000;

export interface MoneyErasureDeps extends MandateDeps {
  readonly store: Pick<Store, "act">;
  readonly accounts: Pick<AccountTables, "org">;
  readonly jobs: Pick<Jobs, "enqueue" | "drop" | "of">;
  readonly topups: TopupTables;
  readonly refunds: RefundTables;
  readonly subscriptions: SubscriptionTables;
}

/** The first of all steps: nothing else waits behind it for longer than an hour. */
export const endingOfMandates = (deps: MoneyErasureDeps): ErasureStep => ({
  name: "mandates at payment gateways",
  async eraseOutside(orgId) {
    await deps.store.act(() => cancelAll(deps, orgId));
    const begunAtMs = deps.accounts.org(orgId)?.erasureBegunAtMs ?? 0;
    // A clock may be set back.
    if (Math.abs(deps.clock.now() - begunAtMs) >= MOST_ENDING_MS) return false;
    for (const { state } of deps.jobs.of(endMandate, orgId)) if (state !== "given_up") return true;
    return false;
  },
});

/** Behind {@link endingOfMandates}. */
export function moneyErasure(deps: MoneyErasureDeps): ErasureStep[] {
  const { mandates, topups, refunds, subscriptions } = deps;
  return [
    bared("mandates", mandates, (row) => {
      const bare = bareMandate(row);
      // It may have been given up there before: nobody could name what is debited any more.
      if (bare !== undefined) endAtGateway(deps, row);
      return bare;
    }),
    bared("top-ups", topups, (row) => bareTopup(row, deps.clock.now())),
    bared("refunds", refunds, bareRefund),
    { name: "changes of plans", erase: (orgId, most) => subscriptions.eraseKeys(orgId, most) },
  ];
}

interface KeyedRows<R> {
  /** Strictly behind a row, read lazily. */
  of(orgId: string, before?: string): Iterable<R>;
  forgetKey(row: R): void;
  put(row: R): void;
}

/** @param bareOf the row without what a person or a client wrote; undefined where it has nothing of it */
const bared = <R extends { readonly id: string }>(
  name: string,
  rows: KeyedRows<R>,
  bareOf: (row: R) => R | undefined,
): ErasureStep => ({
  name,
  walk(orgId, most, after): Position | undefined {
    let left = most;
    for (const row of rows.of(orgId, after as string | undefined)) {
      const bare = bareOf(row);
      if (bare !== undefined) {
        rows.forgetKey(row);
        rows.put(bare);
      }
      if (--left === 0) return row.id;
    }
    return undefined;
  },
});

/** The id of the registration stays: it debits nothing by itself, and a late approval of its page is found by it, and ended. */
const bareMandate = (row: MandateRow): MandateRow | undefined =>
  isBare(row, ["tokenRef", "hostedUrl", "idempotencyKey"])
    ? undefined
    : { ...row, tokenRef: "", hostedUrl: "", idempotencyKey: "" };

/** Who is billed stays with what was paid, or may still be: as on its invoice, and credit notes are made of it. */
function bareTopup(row: TopupRow, nowMs: number): TopupRow | undefined {
  const mayCome = row.status === "pending" && nowMs - row.createdAtMs <= MOST_WATCHED_MS;
  const { recipient } = row.quote;
  const isNamed = recipient.legalName !== "" && !isPaid(row) && !mayCome;
  if (isBare(row, ["checkoutUrl", "idempotencyKey", "failure"]) && !isNamed) return undefined;
  const nobody = {
    ...recipient,
    legalName: "",
    gstin: "",
    taxId: "",
    address: { ...recipient.address, line1: "", city: "", postalCode: "" },
  };
  return {
    ...row,
    checkoutUrl: "",
    idempotencyKey: "",
    failure: "",
    ...(isNamed && { quote: { ...row.quote, recipient: nobody } }),
  };
}

const bareRefund = (row: RefundRow): RefundRow | undefined =>
  isBare(row, ["reason", "idempotencyKey", "failure"])
    ? undefined
    : { ...row, reason: "", idempotencyKey: "", failure: "" };

const isBare = <R, K extends keyof R>(row: R, texts: readonly K[]): boolean =>
  texts.every((name) => row[name] === "");
