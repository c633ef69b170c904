/** Operations on automatic top-ups: how they stand, and when and how much. */
import { z } from "zod";
import type { OrgRow } from "../../account/org.ts";
import { assertMayChange } from "../../account/scopes.ts";
import { isoTime } from "../../base/clock.ts";
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

const debitShape = z.object({
  status: z
    .enum(["announced", "under_way"])
    .describe(
      "`announced`: it is made at `due_at` if the balance is still below; `under_way`: it is being made",
    ),
  currency: z.enum(CURRENCIES).describe("Currency of the debit"),
  total_minor: z.int().describe("Tax included, in paise or cents"),
  due_at: z.string().describe("Not before this; ISO 8601, UTC"),
  topup_id: z.string().optional().describe("Its top-up; absent while it is announced"),
});

const view = z.object({
  mandate: mandateShape.nullable().describe("What is debited; null where none was ever registered"),
  registering: mandateShape
    .nullable()
    .describe(
      "A mandate that waits for the payer, who replaces the one in force by it; with `hosted_url`, its page, for those who may register one. Null where none waits",
    ),
  config: configShape.describe("When and how much is bought"),
  debit: debitShape.nullable().describe("The debit that is announced or under way; null where none is"),
  next_try_at: z
    .string()
    .optional()
    .describe("No debit before this, because the last one failed or the payer refused it; absent: at once"),
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
    run: (_input, caller) => viewOf(deps, deps.accounts.mustOrg(caller.orgId), caller),
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

function viewOf(deps: AutoTopupOperationDeps, org: OrgRow, caller: Caller): z.input<typeof view> {
  const currency = org.billingCurrency;
  const rules = deps.debitRules[currency];
  const gateway = deps.gatewayFor(currency);
  const mandate = deps.mandates.shown(org.id);
  // One in another currency, from before the org moved, is not debited.
  const settings = deps.autoTopups.of(org.id);
  const isLive =
    mandate?.currency === currency && mandate.status !== "cancelled" && mandate.status !== "failed";
  return {
    mandate: mandate === undefined ? null : shownMandate(deps, mandate),
    registering: registeringOf(deps, org.id, caller),
    config: configWire(settings),
    debit: debitOf(settings, currency),
    ...(settings.notBeforeMs > deps.clock.now() && { next_try_at: isoTime(settings.notBeforeMs) }),
    rail: gateway?.id ?? "",
    methods: [...methodsOf(gateway?.mandateMethods ?? [], currency)],
    cap_minor: isLive ? mandate.capMinor : rules.capMinor,
    notify_hours: isLive ? mandate.notifyHours : rules.notifyHours,
    currency,
    min_amount_minor: deps.terms.minimumsMinor[currency],
  };
}

/** The address of the mandate's page is told only to those who may register a mandate: whoever opens it can approve in the org's name. */
function registeringOf(deps: AutoTopupOperationDeps, orgId: string, { scopes, environment }: Caller) {
  const row = deps.mandates.pending(orgId);
  if (row === undefined) return null;
  const isOpen = row.hostedUrl !== "" && scopes.has("write:billing") && environment === "live";
  return { ...shownMandate(deps, row), ...(isOpen && { hosted_url: row.hostedUrl }) };
}

function debitOf({ debit }: AutoTopupRow, currency: OrgRow["billingCurrency"]) {
  if (debit === null) return null;
  return {
    status: debit.phase === "announced" ? ("announced" as const) : ("under_way" as const),
    currency,
    total_minor: debit.totalMinor,
    due_at: isoTime(debit.dueMs),
    ...(debit.topupId !== "" && { topup_id: debit.topupId }),
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
  return viewOf(deps, org, caller);
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
