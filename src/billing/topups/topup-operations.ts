/** Operations on top-ups: a quote, a checkout, and what became of it. */

import { z } from "zod";
import { assertMayChange } from "../../account/scopes.ts";
import type { AccountTables } from "../../account/tables.ts";
import { fail } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { checkedIdempotencyKey, type HttpHead } from "../../base/operation/http-head.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { pageOf, pageQuery, readPageInTurns } from "../../base/operation/page.ts";
import { assertWithin, type Quotas } from "../../base/quota.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import type { InvoiceIssuer } from "../invoices/invoice.ts";
import { type CheckoutOrder, GatewayError, type GatewayId } from "../payments/gateway.ts";
import * as opening from "../payments/page-opening.ts";
import {
  assertBillable,
  assertMinimum,
  type QuoteDeps,
  quoteFor,
  quoteShape,
  quoteWire,
} from "../rates/quote.ts";
import { isPaid, NEW_TOPUP, openPageOf, type TopupRow, topupShape, topupWire } from "./topup.ts";
import { lookNow, type TopupWatchDeps, watchTopup } from "./watch.ts";

export interface TopupOperationDeps extends TopupWatchDeps, QuoteDeps, opening.PagePorts {
  readonly invoices: TopupWatchDeps["invoices"] & Pick<InvoiceIssuer, "treatmentOf" | "idOfTopup">;
  readonly accounts: AccountTables;
  readonly cursors: Cursors;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly trail: Trail;
  readonly quotas: Quotas;
}

/** A quote binds a checkout that is opened within this time; a payment that began then may end later. */
const CHECKOUT_MS = 30 * MINUTE_MS;
/** A reader of a pending top-up waits this long for the payment gateway. */
const LOOK_MS = 3_000;

const AMOUNT = "Before tax, in paise or cents";
const amount = z.int().min(1).max(Number.MAX_SAFE_INTEGER).describe(AMOUNT);

export function topupOperations(deps: TopupOperationDeps) {
  return {
    quoteTopup: operation({
      summary: "What an amount costs with tax, and the credit that it buys",
      method: "GET",
      path: "/v1/credits/topups/quote",
      access: "read:billing / billing",
      group: "Credits",
      query: z.object({ amount_minor: z.coerce.number().pipe(amount).describe(AMOUNT) }),
      output: quoteShape,
      errors: ["billing_profile_incomplete", "fx_stale", "gateway_unavailable"],
      run: ({ query }, { orgId }) => quoteTopup(deps, orgId, query.amount_minor),
    }),
    listTopups: operation({
      summary: "The org's top-ups, newest first",
      method: "GET",
      path: "/v1/credits/topups",
      access: "read:billing / billing",
      group: "Credits",
      query: z.object(pageQuery(50, 200)),
      output: pageOf(topupShape),
      async run({ query: { limit, cursor } }, caller) {
        const { orgId } = caller;
        const pages = {
          cursors: deps.cursors,
          limit,
          cursor,
          list: `topups:${orgId}`,
          rows: (after?: (string | number)[]) => deps.topups.of(orgId, after?.[0] as string | undefined),
          positionOf: ({ id }: TopupRow) => [id],
        };
        return {
          object: "list" as const,
          ...(await readPageInTurns(pages, (row) => showTo(deps, caller, row))),
        };
      },
    }),
    createTopup: operation({
      summary: "Buy credit: opens a checkout on the payment gateway's page",
      method: "POST",
      path: "/v1/credits/topups",
      access: "write:billing / billing",
      group: "Credits",
      body: z.strictObject({ amount_minor: amount }),
      output: z.object({
        topup: topupShape.describe("The new top-up"),
        checkout_url: z
          .string()
          .describe("Page of the payment gateway on which it is paid, within half an hour"),
        quote: quoteShape.describe("What the payment is bound to"),
      }),
      status: 201,
      errors: [
        "billing_profile_incomplete",
        "below_minimum",
        "fx_stale",
        "gateway_unavailable",
        "idempotency_key_invalid",
        "idempotency_mismatch",
        "plan_limit",
        "state",
      ],
      run: ({ body }, caller, head) => createTopup(deps, caller, body.amount_minor, head),
    }),
    getTopup: operation({
      summary: "Read a top-up; a pending one is asked after at the payment gateway first",
      method: "GET",
      path: "/v1/credits/topups/{id}",
      access: "read:billing / billing",
      group: "Credits",
      params: z.object({ id: field.id }),
      output: topupShape,
      errors: ["not_found"],
      async run({ params }, caller) {
        const { orgId } = caller;
        const row = deps.topups.mustGet(orgId, params.id);
        if (row.status === "pending") await lookNow(deps, row, LOOK_MS);
        return showTo(deps, caller, deps.topups.mustGet(orgId, params.id));
      },
    }),
  };
}

function quoteTopup(deps: TopupOperationDeps, orgId: string, amountMinor: number) {
  const org = deps.accounts.mustOrg(orgId);
  assertBillable(org);
  const gateway = opening.mustGateway(deps, org.billingCurrency);
  return quoteWire(quoteFor(deps, org, amountMinor, deps.clock.now()), gateway.id, deps.terms);
}

const show = ({ invoices }: TopupOperationDeps, row: TopupRow) =>
  topupWire(row, invoices.idOfTopup(row.orgId, row.id));

/** The top-up with the address of its payment page. Only callers who may buy credit get the address: its holder pays in the org's name. */
function showTo(deps: TopupOperationDeps, { orgId, scopes, environment }: Caller, row: TopupRow) {
  const mayPay = scopes.has("write:billing") && environment === "live";
  const isActive = deps.accounts.org(orgId)?.status === "active";
  const url = mayPay && isActive ? openPageOf(row, deps.clock.now()) : undefined;
  return { ...show(deps, row), ...(url !== undefined && { checkout_url: url }) };
}

async function createTopup(deps: TopupOperationDeps, caller: Caller, amountMinor: number, head: HttpHead) {
  assertMayChange(caller, "live");
  const key = checkedIdempotencyKey(head.header("idempotency-key"));
  // Before anything is written: there may be none.
  const ownAddress = deps.ownAddress(head);
  const row = await deps.store.act(() => orderTopup(deps, caller, amountMinor, key));
  const open = await openCheckout(deps, row, ownAddress);
  return {
    topup: { ...show(deps, open), checkout_url: open.checkoutUrl },
    checkout_url: open.checkoutUrl,
    quote: quoteWire(open.quote, open.gateway, deps.terms),
  };
}

/**
 * Only in an act: the row, before anybody is asked for money. Asked again with the same key, it is the first one, unless that never
 * had a checkout and its time is over: nobody could have paid it, and its quote binds no more.
 */
function orderTopup(
  deps: TopupOperationDeps,
  caller: Caller,
  amountMinor: number,
  idempotencyKey: string,
): TopupRow {
  const { orgId } = caller;
  const { topups, clock, jobs, trail } = deps;
  const nowMs = clock.now();
  const earlier = topups.ofKey(orgId, idempotencyKey);
  if (earlier !== undefined) {
    if (earlier.quote.amountMinor !== amountMinor)
      throw fail("idempotency_mismatch", "This Idempotency-Key was used for a top-up of another amount.", {
        param: "Idempotency-Key",
      });
    if (isPaid(earlier) || earlier.gatewayRef !== "" || nowMs <= earlier.expiresAtMs) return earlier;
  }
  const org = deps.accounts.mustOrg(orgId);
  assertBillable(org);
  assertMinimum(deps.terms, org.billingCurrency, amountMinor);
  const gateway = opening.mustGateway(deps, org.billingCurrency);
  assertFew(deps, orgId, nowMs);
  const row: TopupRow = {
    ...NEW_TOPUP,
    id: newId("tup", nowMs),
    orgId,
    source: "checkout",
    gateway: gateway.id,
    gatewayRef: "",
    quote: quoteFor(deps, org, amountMinor, nowMs),
    createdAtMs: nowMs,
    expiresAtMs: nowMs + CHECKOUT_MS,
    idempotencyKey,
  };
  topups.put(row);
  const payload = { topupId: row.id };
  jobs.enqueue(watchTopup, { key: row.id, orgId, lane: gateway.id, dueMs: nowMs + MINUTE_MS, payload });
  trail.audit.note(caller, { act: "topup.create", target: row.id, after: topupWire(row) });
  return row;
}

/** @throws WeirError 403 `plan_limit` */
function assertFew({ topups, quotas }: TopupOperationDeps, orgId: string, nowMs: number): void {
  let open = 0;
  for (const { createdAtMs } of topups.pendingOf(orgId)) {
    if (createdAtMs < nowMs - HOUR_MS || open === quotas.topups_per_hour) break;
    open += 1;
  }
  assertWithin(
    quotas,
    "topups_per_hour",
    open,
    "top-ups of an hour that are not paid",
    "Pay one of them, or wait.",
  );
}

/**
 * Asks the payment gateway for the page. Those who ask at the same time in the same words get the same one, by the idempotency key. In
 * other words, such as from another address or after the org was renamed, it needs another key; so it does after a failure, which a payment
 * gateway repeats to the old key. A page that was made nevertheless, or whose answer was lost, is known to nobody, and ends unpaid.
 */
async function openCheckout(deps: TopupOperationDeps, row: TopupRow, ownAddress: string): Promise<TopupRow> {
  if (row.gatewayRef !== "" || isPaid(row)) return row;
  const gateway = deps.gatewayOf(row.gateway as GatewayId);
  const org = deps.accounts.mustOrg(row.orgId);
  if (gateway === undefined) throw opening.unavailable("charged");
  const { currency, totalMinor: minor } = row.quote;
  const order: CheckoutOrder = {
    reference: row.id,
    payer: { orgId: org.id, name: row.quote.recipient.legalName, email: org.billingEmail },
    total: { currency, minor },
    description: `Credit for ${org.name}`,
    returnUrl: `${ownAddress}/billing/topups/${row.id}`,
    expiresAtMs: row.expiresAtMs,
    methods: [],
  };
  try {
    const page = await gateway.createCheckout(order, {
      idempotencyKey: opening.keyOf(row, order),
      signal: AbortSignal.timeout(opening.OPENING_MS),
    });
    return await deps.store.act(() => {
      const now = deps.topups.mustGet(row.orgId, row.id);
      if (now.gatewayRef !== "") return now;
      const open = { ...now, gatewayRef: page.ref, checkoutUrl: page.url };
      deps.topups.put(open);
      return open;
    });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const now = error.kind === "busy" ? undefined : await deps.store.act(() => notOpened(deps, row));
    if (now !== undefined && now.gatewayRef !== "") return now;
    throw opening.unavailable("charged", error.retryAfterMs);
  }
}

/** Only in an act: the next one asks with another key, unless somebody else opened the checkout meanwhile, or failed too. */
function notOpened({ topups }: TopupOperationDeps, { orgId, id, failedOpenings = 0 }: TopupRow): TopupRow {
  const now = topups.mustGet(orgId, id);
  if (now.gatewayRef !== "" || (now.failedOpenings ?? 0) !== failedOpenings) return now;
  const next = { ...now, failedOpenings: failedOpenings + 1 };
  topups.put(next);
  return next;
}
