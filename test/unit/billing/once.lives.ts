/** What people and the payment service do in a schedule: lives of a top-up, as data that fast-check makes, and as steps. */
import fc from "fast-check";
import { FAULTS } from "../../../simulator/payments/api.ts";
import type { Change } from "../../../simulator/payments/engine.ts";
import type { SimDispute } from "../../../simulator/payments/state.ts";
import { newId } from "../../../src/base/ids.ts";
import type { Caller, Origin } from "../../../src/base/operation/operation.ts";
import { someOrg } from "./fixtures.ts";
import type { PayRooms } from "./once.process.ts";
import { addOrg, HOUSE, headWith, type PayWorld, type RunOptions } from "./once.world.ts";

/** How the payer's tries go, one after another; after `twice` it was paid two times. */
const PAYING = [
  ["paid"],
  ["paid"],
  ["decline_soft", "paid"],
  ["authorized"],
  ["processing"],
  ["twice"],
  ["decline_hard"],
  [],
] as const;

export type Later =
  | { readonly do: "ask"; readonly share: number; readonly begins: "refunded" | "pending" | "failed" }
  | { readonly do: "dashboard"; readonly share: number; readonly begins: "refunded" | "pending" | "failed" }
  | { readonly do: "dispute"; readonly states: readonly SimDispute["state"][]; readonly share: number }
  | { readonly do: "spend"; readonly share: number };

export interface Life extends RunOptions {
  readonly country: "IN" | "US";
  readonly amountMinor: number;
  /** So often the top-up is asked for, with one key. */
  readonly asked: number;
  readonly paying: readonly string[];
  readonly later: readonly Later[];
  /** How pending refunds end, and whether those that are done fail afterwards. */
  readonly ends: readonly ("refunded" | "failed" | "failed late")[];
}

const share = fc.integer({ min: 1, max: 100 });
const begins = fc.constantFrom("refunded", "refunded", "pending", "failed");
export const LATER = {
  ask: fc.record({ do: fc.constant("ask"), share, begins }),
  dashboard: fc.record({ do: fc.constant("dashboard"), share, begins }),
  spend: fc.record({ do: fc.constant("spend"), share }),
  dispute: fc.record({
    do: fc.constant("dispute"),
    share: fc.oneof(fc.constant(100), share),
    states: fc.constantFrom(
      ["withdrawn"],
      ["withdrawn", "won"],
      ["withdrawn", "lost"],
      ["open", "withdrawn", "reinstated"],
      ["open", "won"],
      ["warning"],
      ["warning", "withdrawn", "lost"],
      ["withdrawn", "reinstated", "lost"],
    ),
  }),
};

export const run = {
  seed: fc.integer({ min: 0, max: 2 ** 31 }),
  length: fc.integer({ min: 0, max: 600 }),
  deaths: fc.array(fc.record({ write: fc.integer({ min: 1, max: 40 }), isMade: fc.boolean() }), {
    maxLength: 3,
  }),
  faults: fc.array(
    fc.record({
      call: fc.integer({ min: 1, max: 20 }),
      kind: fc.constantFrom(...FAULTS.filter((kind) => kind !== "slow")),
    }),
    { maxLength: 2 },
  ),
};

/** @param later what happens to the payment */
export const lifeOf = (
  later: fc.Arbitrary<readonly Later[]>,
  paying: readonly (readonly string[])[] = PAYING,
) =>
  fc.record({
    ...run,
    later,
    country: fc.constantFrom("IN", "US"),
    amountMinor: fc.integer({ min: 10_000, max: 300_000 }),
    asked: fc.integer({ min: 1, max: 3 }),
    paying: fc.constantFrom(...paying),
    ends: fc.array(fc.constantFrom("refunded", "failed", "failed late"), { maxLength: 3 }),
  }) as fc.Arbitrary<Life>;

const ORIGIN: Origin = { ipPrefix: "", userAgent: "" };
export const callerOf = (orgId: string): Caller => ({
  requestId: "",
  actor: { kind: "person", id: "usr" },
  origin: ORIGIN,
  orgId,
  projectId: "",
  environment: "live",
  scopes: new Set(),
});

/** Lives it to its end. @returns id of the org */
export async function live(world: PayWorld, life: Life): Promise<string> {
  world.begin(life);
  const org = someOrg(life.country);
  await addOrg(world, org);
  const ends = [...life.ends];
  let isPaid = false;
  world.onChange = (change) => {
    if (change.kind === "payment" && change.payment.state === "paid" && !isPaid) {
      isPaid = true;
      for (const later of life.later) begin(world, org.id, change.payment, later);
    }
    if (change.kind === "refund") endRefund(world, change, ends);
  };
  world.refundsBegin = life.later.flatMap((later) => (later.do === "ask" ? [later.begins] : []));
  const topup = buy(world, org.id, life);
  for (let i = 0; i < life.asked; i++) topup(i);
  await world.run();
  world.onChange = () => {};
  return org.id;
}

/** @returns asks for the top-up; whoever gets the first answer pays, and looks at it from many sides */
export function buy(
  world: PayWorld,
  orgId: string,
  { amountMinor, paying }: Pick<Life, "amountMinor" | "paying">,
): (copy: number) => void {
  let isOpen = false;
  const key = newId("job", world.schedule.now());
  const input = { params: undefined, query: undefined, body: { amount_minor: amountMinor } };
  const create = ({ operations }: PayRooms) =>
    operations.createTopup.run(input, callerOf(orgId), headWith(key));
  return (copy) =>
    world.ask(`POST top-up ${copy}`, create, (answer) => {
      const { topup } = answer as Created;
      if (isOpen) return;
      isOpen = true;
      pay(world, topup.gateway_ref, [...paying]);
      look(world, orgId, topup.id);
    });
}

/** The return page and the reading of the API, five times each. */
function look(world: PayWorld, orgId: string, id: string): void {
  const input = { params: { id }, query: undefined, body: undefined };
  for (let copy = 1; copy <= 5; copy++) {
    world.ask(`return page ${copy}`, ({ operations }) =>
      operations.topupReturnPage.run(input, callerOf(orgId), headWith("")),
    );
    world.ask(`GET top-up ${copy}`, ({ operations }) =>
      operations.getTopup.run(input, callerOf(orgId), headWith("")),
    );
  }
}

function pay(world: PayWorld, ref: string, [outcome, ...rest]: readonly string[]): void {
  if (outcome === undefined) return;
  const { engine } = world;
  world.atService(`the payer: ${outcome}`, () => {
    const isTwice = outcome === "twice";
    const payment = engine.pay(ref, { outcome: (isTwice ? "paid" : outcome) as "paid" });
    if (isTwice)
      world.atService("the payer pays again", () => engine.pay(ref, { outcome: "paid", force: true }));
    if (outcome === "processing")
      world.atService("the bank pays", () => engine.finishPayment(HOUSE, payment.id, "paid"));
    pay(world, ref, rest);
  });
}

type Created = Extract<Awaited<ReturnType<PayRooms["operations"]["createTopup"]["run"]>>, { topup: unknown }>;
export type Paid = Extract<Change, { readonly kind: "payment" }>["payment"];

/** What happens to a payment, from now on. */
export function begin(world: PayWorld, orgId: string, payment: Paid, later: Later): void {
  if (later.do === "dispute") dispute(world, payment, later);
  else if (later.do === "spend") spend(world, orgId, later.share);
  else if (later.do === "ask") askRefund(world, orgId, payment, later.share);
  else refundInDashboard(world, payment, later);
}

function refundInDashboard(world: PayWorld, payment: Paid, later: Extract<Later, { do: "dashboard" }>): void {
  const { engine } = world;
  world.atService("a refund in the dashboard", () => {
    // The service refuses it while the money is withdrawn.
    const isAway = [...engine.state.all("disputes")].some(
      ({ paymentId, state }) => paymentId === payment.id && (state === "withdrawn" || state === "lost"),
    );
    if (isAway) return;
    const left = payment.amount - payment.refundedMinor;
    engine.nextRefunds.length = 0;
    engine.nextRefunds.push(later.begins);
    engine.refund(HOUSE, payment.id, Math.max(1, Math.floor((left * later.share) / 100)), "");
  });
}

/** Five times with one key, once the top-up is known to be paid. */
function askRefund(world: PayWorld, orgId: string, { reference }: Paid, percent: number): void {
  const key = newId("job", world.schedule.now());
  for (let copy = 1; copy <= 5; copy++)
    world.ask(`POST refund ${copy}`, ({ operations, topups }) => {
      const minor = topups.find(reference)?.quote.amountMinor ?? 100;
      const body = {
        amount_minor: Math.max(1, Math.floor((minor * percent) / 100)),
        reason: "",
        idempotency_key: key,
      };
      const input = { params: { id: reference }, query: undefined, body };
      return operations.refundTopup.run(input, callerOf(orgId), headWith(""));
    });
}

export function spend(world: PayWorld, orgId: string, percent: number): void {
  const requestId = newId("job", world.schedule.now());
  world.ask("calls are billed", ({ book, purse, clock, store }) => {
    const { availableMicroUsd } = purse.funds(orgId);
    const amountMicroUsd = Math.floor((availableMicroUsd * percent) / 100);
    if (amountMicroUsd <= 0) return undefined;
    return store.act(() => book.charge(orgId, { requestId, amountMicroUsd, atMs: clock.now() }));
  });
}

function dispute(world: PayWorld, payment: Paid, { states, share }: Extract<Later, { do: "dispute" }>): void {
  const { engine } = world;
  world.atService(`a dispute: ${states[0]}`, () => {
    const amount = Math.max(1, Math.floor((payment.amount * share) / 100));
    const { id } = engine.dispute(HOUSE, payment.id, { state: states[0] as "open", amount });
    const next = ([state, ...rest]: readonly SimDispute["state"][]): void => {
      if (state === undefined) return;
      world.atService(`the dispute: ${state}`, () => {
        engine.moveDispute(HOUSE, id, state);
        next(rest);
      });
    };
    next(states.slice(1));
  });
}

/** A refund that is pending ends; one that is done may fail afterwards. */
export function endRefund(
  world: PayWorld,
  { refund, isNew }: Extract<Change, { readonly kind: "refund" }>,
  ends: ("refunded" | "failed" | "failed late")[],
): void {
  if (!isNew) return;
  const { engine } = world;
  const end = ends.shift() ?? "refunded";
  const finish = (outcome: "refunded" | "failed", then: () => void = () => {}) =>
    world.atService(`the refund: ${outcome}`, () => {
      if (engine.refundById(HOUSE, refund.id).state === (outcome === "failed" ? "failed" : "refunded"))
        return then();
      engine.finishRefund(HOUSE, refund.id, outcome);
      then();
    });
  if (end === "failed late") finish("refunded", () => finish("failed"));
  else
    world.atService("the bank decides", () => {
      if (engine.refundById(HOUSE, refund.id).state === "pending") engine.finishRefund(HOUSE, refund.id, end);
    });
}
