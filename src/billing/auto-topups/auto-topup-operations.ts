/** Operations on automatic top-ups: how they stand, and when and how much. */
import { z } from "zod";
import type { OrgRow } from "../../account/org.ts";
import { assertMayChange } from "../../account/scopes.ts";
import { CURRENCIES, moneyText } from "../../base/currency.ts";
import { fail } from "../../base/errors.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Store } from "../../store/store.ts";
import { configShape, MANDATE_METHODS, mandateShape, methodsOf } from "../mandates/mandate.ts";
import { resumeMandate, shownMandate } from "../mandates/moves.ts";
import { lookAtMandate, type MandateWatchDeps } from "../mandates/watch.ts";
import type { PagePorts } from "../payments/page-opening.ts";
import { assertBillable, assertMinimum, quoteFor } from "../rates/quote.ts";
import { MOST_MINOR } from "../rates/terms.ts";
import { type AutoTopupRow, configWire } from "./auto-topup.ts";
import { hastenLook } from "./jobs.ts";
import { drop, type PlanDeps } from "./plan.ts";

export interface AutoTopupOperationDeps
  extends PlanDeps,
    Pick<MandateWatchDeps, "mandateLooks">,
    Pick<PagePorts, "gatewayFor"> {
  readonly store: Pick<Store, "act">;
  readonly trail: Trail;
}

/** A million dollars: who wants to be topped up above it has mistaken the unit. */
const MOST_MICRO = 1_000_000_000_000;
/** For what the payer's bank says now. */
const LOOK_MS = 3_000;

const view = z.object({
  mandate: mandateShape.nullable().describe("What is debited; null where none was ever registered"),
  config: configShape.describe("When and how much is bought"),
  rail: z.string().describe("The payment gateway; empty where none takes the org's currency"),
  methods: z.array(z.enum(MANDATE_METHODS)).describe("By which a mandate can be registered"),
  cap_minor: z.int().describe("Most of one debit, tax included, in paise or cents"),
  notify_hours: z.int().describe("A debit is announced at least so many hours before it"),
  currency: z.enum(CURRENCIES).describe("The org's billing currency."),
  min_amount_minor: z.int().describe("A smaller amount is refused"),
});

export const autoTopupOperations = (deps: AutoTopupOperationDeps) => ({
  getAutoTopup: operation({
    summary: "How automatic top-ups stand: the mandate, the settings, and their bounds",
    method: "GET",
    path: "/v1/credits/auto-topup",
    access: "read:billing / billing",
    group: "Credits",
    output: view,
    errors: ["not_found"],
    run: (_input, { orgId }) => viewOf(deps, deps.accounts.mustOrg(orgId)),
  }),
  setAutoTopup: operation({
    summary: "Switch automatic top-ups on or off; switching on also resumes a paused mandate",
    method: "PUT",
    path: "/v1/credits/auto-topup",
    access: "write:billing / billing",
    group: "Credits",
    body: z.strictObject({
      enabled: z.boolean().describe("Switching on needs a mandate, and resumes one that is paused"),
      threshold_micro: z
        .int()
        .min(0)
        .max(MOST_MICRO)
        .describe("Credit is bought when the balance falls below"),
      amount_minor: z.int().min(0).max(MOST_MINOR).describe("What is bought at once, before tax"),
    }),
    output: view,
    errors: [
      "not_found",
      "no_mandate",
      "above_cap",
      "below_minimum",
      "billing_profile_incomplete",
      "fx_stale",
    ],
    async run({ body }, caller) {
      assertMayChange(caller, "live");
      const mandate = deps.mandates.inForce(caller.orgId);
      if (body.enabled && mandate?.isPausedAtBank === true) await lookAtMandate(deps, mandate, LOOK_MS);
      return await deps.store.act(() => setConfig(deps, caller, body));
    },
  }),
});

function viewOf(deps: AutoTopupOperationDeps, org: OrgRow): z.input<typeof view> {
  const currency = org.billingCurrency;
  const rules = deps.debitRules[currency];
  const gateway = deps.gatewayFor(currency);
  const mandate = deps.mandates.shown(org.id);
  // One in another currency, from before the org moved, is not debited.
  const isLive =
    mandate?.currency === currency && mandate.status !== "cancelled" && mandate.status !== "failed";
  return {
    mandate: mandate === undefined ? null : shownMandate(deps, mandate),
    config: configWire(deps.autoTopups.of(org.id)),
    rail: gateway?.id ?? "",
    methods: [...methodsOf(gateway?.mandateMethods ?? [], currency)],
    cap_minor: isLive ? mandate.capMinor : rules.capMinor,
    notify_hours: isLive ? mandate.notifyHours : rules.notifyHours,
    currency,
    min_amount_minor: deps.terms.minimumsMinor[currency],
  };
}

/** Only in an act. */
function setConfig(deps: AutoTopupOperationDeps, caller: Caller, config: z.output<typeof configShape>) {
  const { autoTopups, jobs } = deps;
  const { orgId } = caller;
  const org = deps.accounts.mustOrg(orgId);
  if (config.enabled) assertDebitable(deps, org, config.amount_minor);
  const before = autoTopups.of(orgId);
  const after: AutoTopupRow = {
    ...before,
    enabled: config.enabled,
    thresholdMicroUsd: config.threshold_micro,
    amountMinor: config.amount_minor,
  };
  autoTopups.put(after);
  dropOther(deps, before, after);
  if (config.enabled) resume(deps, orgId);
  hastenLook(jobs, orgId);
  deps.trail.audit.note(caller, {
    act: "auto_topup.set",
    target: orgId,
    before: configWire(before),
    after: configWire(after),
  });
  return viewOf(deps, org);
}

/** Drops a debit that was announced or ordered with another amount. One that the payment gateway was asked for goes on. */
function dropOther(deps: AutoTopupOperationDeps, before: AutoTopupRow, after: AutoTopupRow): void {
  const { debit } = before;
  if (debit === null || debit.phase === "confirming") return;
  if (after.enabled && before.amountMinor === after.amountMinor) return;
  drop(deps, after.orgId, debit.topupId);
}

/** Whoever switches it on knows of what failed before: it may be tried at once. */
function resume(deps: AutoTopupOperationDeps, orgId: string): void {
  if (deps.mandates.inForce(orgId)?.status !== "paused") return;
  resumeMandate(deps, orgId);
  deps.autoTopups.put({ ...deps.autoTopups.of(orgId), notBeforeMs: 0 });
}

/** @throws WeirError 409 `no_mandate`, 400 `above_cap`, `below_minimum`, `billing_profile_incomplete` */
function assertDebitable(deps: AutoTopupOperationDeps, org: OrgRow, amountMinor: number): void {
  const mandate = deps.mandates.inForce(org.id);
  if (mandate === undefined || mandate.currency !== org.billingCurrency)
    throw fail("no_mandate", "Register a mandate first, and approve it on the payment gateway's page.");
  assertBillable(org);
  assertMinimum(deps.terms, org.billingCurrency, amountMinor);
  const { totalMinor } = quoteFor(deps, org, amountMinor, deps.clock.now());
  const { mostCapsADay } = deps.debitRules[mandate.currency];
  const capMinor = Math.floor(mandate.capMinor * Math.min(1, mostCapsADay));
  if (totalMinor <= capMinor) return;
  const [total, cap] = [totalMinor, capMinor].map((minor) => moneyText(minor, mandate.currency));
  throw fail("above_cap", `Amount and tax are ${total}; one debit is at most ${cap}.`, {
    param: "/amount_minor",
    details: { cap_minor: capMinor, total_minor: totalMinor },
  });
}
