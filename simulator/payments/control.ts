/**
 * The control API of the simulated payment services, for tests and for people who try things: `POST /control` with
 * `{"act": "...", ...}` answers with what it changed. The same acts are methods of {@link Control} in the process.
 */
import { z } from "zod";
import { type Api, FAULTS } from "./api.ts";
import { type Engine, SimRefusal } from "./engine.ts";
import type { Notices } from "./notices.ts";
import { OUTCOMES } from "./outcomes.ts";

const id = z.string().max(100);
const house = z.enum(["stripe", "razorpay", "simulated"]);
const minor = z.int().positive();
const method = z.string().max(40).optional();
const disputeState = z.enum(["warning", "open", "withdrawn", "reinstated", "lost", "won"]);

const ACT = z.discriminatedUnion("act", [
  z.object({
    act: z.literal("pay"),
    checkout: id,
    method,
    outcome: z.enum(OUTCOMES).optional(),

    amount: minor.optional(),
    currency: z.enum(["INR", "USD"]).optional(),
    force: z.boolean().optional(),
  }),
  z.object({ act: z.literal("finish_payment"), house, payment: id, outcome: z.enum(OUTCOMES) }),
  z.object({ act: z.literal("return_payment"), house, payment: id }),
  z.object({ act: z.literal("refund"), house, payment: id, amount: minor }),
  z.object({ act: z.literal("finish_refund"), house, refund: id, outcome: z.enum(["refunded", "failed"]) }),
  z.object({
    act: z.literal("dispute"),
    house,
    payment: id,
    state: disputeState.optional(),
    reason: z.string().max(100).optional(),
    amount: minor.optional(),
  }),
  z.object({ act: z.literal("move_dispute"), house, dispute: id, state: disputeState }),
  z.object({ act: z.literal("approve"), checkout: id, method }),
  z.object({ act: z.literal("decline"), checkout: id, method }),
  z.object({
    act: z.literal("move_mandate"),
    house,
    mandate: id,
    state: z.enum(["active", "paused", "cancelled", "failed"]),
  }),
  z.object({ act: z.literal("next_debits"), outcomes: z.array(z.enum(OUTCOMES)).max(1000) }),
  z.object({
    act: z.literal("next_refunds"),
    outcomes: z.array(z.enum(["refunded", "pending", "failed"])).max(1000),
  }),
  z.object({ act: z.literal("settle"), house }),
  z.object({
    act: z.literal("fault"),
    match: z.string().max(200),
    kind: z.enum(FAULTS),
    times: z.int().positive().optional(),
    delayMs: z.int().nonnegative().max(60_000).optional(),
    retryAfterS: z.int().nonnegative().max(3600).optional(),
  }),
  z.object({ act: z.literal("clear_faults") }),
  z.object({
    act: z.literal("webhooks"),
    hold: z.boolean().optional(),
    lose: z.int().nonnegative().optional(),
    copies: z.int().min(1).max(20).optional(),
    delayMs: z.int().nonnegative().max(60_000).optional(),
  }),
  z.object({ act: z.literal("flush"), order: z.array(z.int().nonnegative()).max(10_000).optional() }),
  z.object({ act: z.literal("hook"), house, url: z.url(), secret: z.string().min(1).max(200) }),
]);

/** An act by name, with what it needs. */
export type ControlAct = z.input<typeof ACT>;

export interface ControlDeps {
  readonly engine: Engine;
  readonly api: Api;
  readonly notices: Notices;
}

/** @returns the entity that was changed @throws SimRefusal; ZodError for an act that does not fit */
export async function control(deps: ControlDeps, input: unknown): Promise<unknown> {
  const act = ACT.parse(input);
  return (await serviceAct(deps, act)) ?? moneyAct(deps.engine, act);
}

type Act = z.output<typeof ACT>;

async function serviceAct({ engine, api, notices }: ControlDeps, act: Act): Promise<unknown> {
  switch (act.act) {
    case "next_debits":
      return { waiting: engine.nextDebits.push(...act.outcomes) };
    case "next_refunds":
      return { waiting: engine.nextRefunds.push(...act.outcomes) };
    case "fault":
      api.plant(withoutUndefined(act));
      return { waiting: api.faults.length };
    case "clear_faults":
      return { removed: api.faults.splice(0).length };
    case "webhooks":
      return Object.assign(notices.script, withoutUndefined({ ...act, act: undefined }));
    case "flush":
      return { statuses: await notices.flush(act.order) };
    case "hook":
      notices.targets.set(act.house, { url: act.url, secret: act.secret });
      return { hook: act.house };
    default:
      return undefined;
  }
}

function moneyAct(engine: Engine, act: Act): unknown {
  switch (act.act) {
    case "pay":
      return engine.pay(act.checkout, withoutUndefined(act));
    case "finish_payment":
      return engine.finishPayment(act.house, act.payment, act.outcome);
    case "return_payment":
      return engine.returnPayment(act.house, act.payment);
    case "refund":
      return engine.refund(act.house, act.payment, act.amount, "");
    case "finish_refund":
      return engine.finishRefund(act.house, act.refund, act.outcome);
    case "dispute":
      return engine.dispute(act.house, act.payment, withoutUndefined(act));
    case "move_dispute":
      return engine.moveDispute(act.house, act.dispute, act.state);
    case "approve":
      return engine.approveMandate(act.checkout, act.method);
    case "decline":
      return engine.declineMandate(act.checkout, act.method);
    case "move_mandate":
      return engine.moveMandate(act.house, act.mandate, act.state);
    case "settle":
      return engine.account.settle(act.house) ?? {};
    default:
      throw new SimRefusal("state", `The act ${act.act} is unknown.`);
  }
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

const withoutUndefined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
