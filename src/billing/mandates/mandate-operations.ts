/** Operations on mandates: register one on the payment gateway's page, and cancel. */

import { z } from "zod";
import type { OrgRow } from "../../account/org.ts";
import { assertMayChange } from "../../account/scopes.ts";
import type { AccountTables } from "../../account/tables.ts";
import { fail } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { checkedIdempotencyKey, type HttpHead } from "../../base/operation/http-head.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { assertWithin, type Quotas } from "../../base/quota.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import type { Trail } from "../../store/events/trail.ts";
import { GatewayError, type MandateOrder, type PaymentGateway } from "../payments/gateway.ts";
import * as opening from "../payments/page-opening.ts";
import { assertBillable, recipientOf } from "../rates/quote.ts";
import { watchMandate } from "./jobs.ts";
import {
  MANDATE_METHODS,
  type MandateMethod,
  type MandateRow,
  type MandateTerms,
  mandateShape,
  methodsOf,
  takenMethod,
} from "./mandate.ts";
import { cancelMandate, endAtGateway, shownMandate } from "./moves.ts";
import { mandatePageOperations } from "./return-page.ts";
import type { MandateWatchDeps } from "./watch.ts";

export interface MandateOperationDeps extends MandateWatchDeps, opening.PagePorts {
  readonly accounts: Pick<AccountTables, "org" | "mustOrg">;
  /** By currency. */
  readonly debitRules: Readonly<Record<OrgRow["billingCurrency"], MandateTerms>>;
  readonly trail: Trail;
  readonly quotas: Quotas;
}

export const mandateOperations = (deps: MandateOperationDeps) => ({
  createMandate: operation({
    summary: "Register a mandate on the payment gateway's page; once active it replaces the one before",
    method: "POST",
    path: "/v1/credits/mandates",
    access: "write:billing / billing",
    group: "Credits",
    body: z.strictObject({ method: z.enum(MANDATE_METHODS).describe("One of `methods` of the settings") }),
    output: z.object({
      mandate: mandateShape.describe("The new mandate, or the one of the same `Idempotency-Key`"),
      url: z.string().describe("Where the payer registers it; empty where that is over"),
    }),
    status: 201,
    errors: [
      "not_found",
      "billing_profile_incomplete",
      "gateway_unavailable",
      "plan_limit",
      "idempotency_key_invalid",
      "idempotency_mismatch",
    ],
    run: ({ body }, caller, head) => createMandate(deps, caller, body.method, head),
  }),
  cancelMandate: operation({
    summary: "Cancel the mandate, and one that is being registered; automatic top-ups end",
    method: "DELETE",
    path: "/v1/credits/mandates",
    access: "write:billing / billing",
    group: "Credits",
    output: z.object({ mandate: mandateShape.describe("The mandate, cancelled") }),
    errors: ["no_mandate"],
    async run(_input, caller) {
      assertMayChange(caller, "live");
      return await deps.store.act(() => cancelAllOf(deps, caller));
    },
  }),
  ...mandatePageOperations(deps),
});

async function createMandate(
  deps: MandateOperationDeps,
  caller: Caller,
  method: MandateMethod,
  head: HttpHead,
) {
  assertMayChange(caller, "live");
  const key = checkedIdempotencyKey(head.header("idempotency-key"));
  const row = await deps.store.act(() => orderMandate(deps, caller, method, key));
  const open = await openRegistration(deps, row, deps.ownAddress(head));
  const url = open.status === "pending" ? open.hostedUrl : "";
  return { mandate: { ...shownMandate(deps, open), ...(url !== "" && { hosted_url: url }) }, url };
}

/** Only in an act: the row, before anybody is asked. Asked again with the same key, it is the first one. */
function orderMandate(
  deps: MandateOperationDeps,
  caller: Caller,
  method: MandateMethod,
  idempotencyKey: string,
): MandateRow {
  const { orgId } = caller;
  const { mandates, clock, jobs, trail } = deps;
  const org = deps.accounts.mustOrg(orgId);
  const gateway = opening.mustGateway(deps, org.billingCurrency);
  const taken = mustTake(gateway, method, org);
  const earlier = mandates.ofKey(orgId, idempotencyKey);
  if (earlier !== undefined) {
    if (shownMandate(deps, earlier).method === method) return earlier;
    throw fail("idempotency_mismatch", "This Idempotency-Key was used for a mandate of another method.");
  }
  assertBillable(org);
  const nowMs = clock.now();
  assertFew(deps, orgId, nowMs);
  const { capMinor, notifyHours } = deps.debitRules[org.billingCurrency];
  const former = mandates.pending(orgId);
  if (former !== undefined) cancelMandate(deps, former);
  const row: MandateRow = {
    id: newId("mnd", nowMs),
    orgId,
    status: "pending",
    gateway: gateway.id,
    method: taken,
    ref: "",
    tokenRef: "",
    hostedUrl: "",
    currency: org.billingCurrency,
    capMinor,
    notifyHours,
    consecutiveFailures: 0,
    pauseReason: "",
    createdAtMs: nowMs,
    registeredAtMs: null,
    cancelledAtMs: null,
    idempotencyKey,
  };
  mandates.put(row);
  const payload = { mandateId: row.id };
  jobs.enqueue(watchMandate, { key: row.id, orgId, lane: gateway.id, dueMs: nowMs + MINUTE_MS, payload });
  trail.audit.note(caller, { act: "mandate.create", target: row.id, after: shownMandate(deps, row) });
  return row;
}

function mustTake({ mandateMethods }: PaymentGateway, method: MandateMethod, { billingCurrency }: OrgRow) {
  const taken = takenMethod(method, mandateMethods, billingCurrency);
  if (taken !== undefined) return taken;
  const methods = methodsOf(mandateMethods, billingCurrency);
  const message =
    methods.length === 0
      ? `No mandates are taken in ${billingCurrency}.`
      : `In ${billingCurrency} a mandate is registered by ${methods.join(", ")}.`;
  throw fail("invalid_value", message, { param: "/method" });
}

/** Each asks the payment gateway. @throws WeirError 403 `plan_limit` */
function assertFew({ mandates, quotas }: MandateOperationDeps, orgId: string, nowMs: number): void {
  let begun = 0;
  for (const { createdAtMs } of mandates.of(orgId)) {
    if (createdAtMs < nowMs - HOUR_MS) break;
    begun += 1;
  }
  assertWithin(
    quotas,
    "mandates_per_hour",
    begun,
    "mandates begun in an hour",
    "Finish one of them, or wait.",
  );
}

/**
 * Asks the payment gateway for the page, with a key as `openCheckout` of top-ups makes it: the same words get the same page, and after a
 * failure, which a payment gateway repeats to its key, it is asked anew. A page whose answer was lost is known to nobody, and never approved.
 */
async function openRegistration(
  deps: MandateOperationDeps,
  row: MandateRow,
  ownAddress: string,
): Promise<MandateRow> {
  if (row.ref !== "" || row.status !== "pending") return row;
  const gateway = deps.gatewayOf(row.gateway);
  const org = deps.accounts.org(row.orgId);
  if (gateway === undefined || org === undefined) throw opening.unavailable("registered");
  const order: MandateOrder = {
    reference: row.id,
    payer: { orgId: org.id, name: recipientOf(org).legalName, email: org.billingEmail },
    method: row.method,
    cap: { currency: row.currency, minor: row.capMinor },
    returnUrl: `${ownAddress}/billing/mandates/${row.id}`,
  };
  try {
    const signal = AbortSignal.timeout(opening.OPENING_MS);
    const { ref, url } = await gateway.registerMandate(order, {
      idempotencyKey: opening.keyOf(row, order),
      signal,
    });
    return await deps.store.act(() => keepPage(deps, row, ref, url));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const now = error.kind === "busy" ? undefined : await deps.store.act(() => notOpened(deps, row));
    if (now !== undefined && now.ref !== "") return now;
    throw opening.unavailable("registered", error.retryAfterMs);
  }
}

/** Only in an act: the next one asks with another key, unless somebody else opened the page meanwhile, or failed too. */
function notOpened({ mandates }: MandateOperationDeps, { orgId, id, failedOpenings = 0 }: MandateRow) {
  const now = mandates.get(orgId, id) as MandateRow;
  if (now.ref !== "" || (now.failedOpenings ?? 0) !== failedOpenings) return now;
  const next: MandateRow = { ...now, failedOpenings: failedOpenings + 1 };
  mandates.put(next);
  return next;
}

/** Only in an act. One that was cancelled meanwhile is ended there too. */
function keepPage(
  deps: MandateOperationDeps,
  { orgId, id }: MandateRow,
  ref: string,
  url: string,
): MandateRow {
  const now = deps.mandates.get(orgId, id) as MandateRow;
  if (now.ref !== "") return now;
  const open = { ...now, ref, hostedUrl: url };
  deps.mandates.put(open);
  if (open.status === "cancelled" || open.status === "failed") endAtGateway(deps, open);
  return open;
}

/** Only in an act. Asked again, it answers with the same mandate. */
function cancelAllOf(deps: MandateOperationDeps, caller: Caller) {
  const { orgId } = caller;
  const { mandates, trail } = deps;
  const row = mandates.shown(orgId);
  if (row === undefined) throw fail("no_mandate", "The organisation has no mandate.");
  const before = shownMandate(deps, row);
  deps.autoTopups.switchOff(orgId);
  const pending = mandates.pending(orgId);
  if (pending !== undefined && pending.id !== row.id) cancelMandate(deps, pending);
  const mandate = shownMandate(deps, cancelMandate(deps, row));
  if (row.status !== "cancelled")
    trail.audit.note(caller, { act: "mandate.cancel", target: row.id, before, after: mandate });
  return { mandate };
}
