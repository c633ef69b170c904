/**
 * Mandates and automatic top-ups in a schedule: people who register, choose, spend and cancel, payers and banks who say no, and time
 * that passes in hours and days while debits are announced, made and lost sight of.
 */
import fc from "fast-check";
import type { Outcome } from "../../../simulator/payments/outcomes.ts";
import { newId } from "../../../src/base/ids.ts";
import { someOrg } from "./fixtures.ts";
import { DebitLog } from "./once.debits.checks.ts";
import { begin, buy, callerOf, endRefund, LATER, type Later, run, spend } from "./once.lives.ts";
import type { PayRooms } from "./once.process.ts";
import { addOrg, HOUSE, headWith, type PayWorld, type RunOptions } from "./once.world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** By which an org is debited, the amounts that it chooses from, before tax, and more than it ever has. */
const ORGS = {
  upi: { country: "IN", method: "upi", amounts: [10_000, 500_000, 1_271_186] },
  card: { country: "IN", method: "card", amounts: [10_000, 500_000, 1_271_186] },
  emandate: { country: "IN", method: "emandate", amounts: [10_000, 500_000, 1_271_186] },
  abroad: { country: "US", method: "card", amounts: [500, 60_000, 84_745] },
} as const;
/** The second one is never reached by what is bought: then only the ceilings end it. */
const THRESHOLDS = [5_000_000, 9_000_000_000];

type Act =
  | { readonly do: "spend"; readonly share: number; readonly times: number }
  | { readonly do: "register"; readonly copies: number; readonly approves: boolean }
  | { readonly do: "choose"; readonly enabled: boolean; readonly amount: number; readonly threshold: number }
  | { readonly do: "cancel" }
  | { readonly do: "grant" }
  | { readonly do: "topup" }
  | { readonly do: "bank"; readonly to: "cancelled" | "paused" | "active" };

export interface Debits extends RunOptions {
  readonly org: keyof typeof ORGS;
  readonly minuteOfDay: number;
  readonly copies: number;
  readonly amount: number;
  readonly threshold: number;
  /** How the payer's bank answers debits, first one first; then it pays. */
  readonly answers: readonly Outcome[];
  /** What becomes of debits that were paid, first one first. */
  readonly later: readonly Later[];
  /** Minutes that pass at once, and what people do then, at the same time as what is due. */
  readonly leaps: readonly { readonly minutes: number; readonly acts: readonly Act[] }[];
}

const times = fc.integer({ min: 1, max: 3 });
const choice = { amount: fc.integer({ min: 0, max: 2 }), threshold: fc.integer({ min: 0, max: 1 }) };
const spent = fc.record({
  do: fc.constant("spend"),
  times: fc.integer({ min: 1, max: 4 }),
  share: fc.integer({ min: 20, max: 100 }),
});
const act = fc.oneof(
  { weight: 6, arbitrary: spent },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("register"), copies: times, approves: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("choose"), enabled: fc.boolean(), ...choice }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("cancel", "grant", "topup") }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("bank"),
      to: fc.constantFrom("cancelled", "paused", "active"),
    }),
  },
);
const ANSWERS = ["paid", "paid", "processing", "decline_soft", "decline_hard", "opt_out"] as const;
const far = { maxLength: 5 };
/** The number of a write or call among all, or among those by which money is asked for, so that each schedule meets some there. */
const nth = (of: string) => fc.integer({ min: 1, max: of === "" ? 60 : 4 });
const deathAt = (of: string) => fc.record({ write: nth(of), isMade: fc.boolean(), of: fc.constant(of) });
const faultAt = (of: string) =>
  fc.record({
    call: nth(of),
    of: fc.constant(of),
    kind: fc.constantFrom("error_before", "error_after", "timeout_after", "conflict", "rate_limit"),
  });

export const debits = fc.record({
  ...run,
  deaths: fc.array(fc.oneof(deathAt(""), deathAt("/confirm"), deathAt("/debits")), far),
  faults: fc.array(fc.oneof(faultAt(""), faultAt("/confirm"), faultAt("/debits")), far),
  org: fc.constantFrom("upi", "card", "emandate", "abroad", "abroad"),
  minuteOfDay: fc.integer({ min: 0, max: 1_439 }),
  copies: times,
  ...choice,
  answers: fc.array(fc.constantFrom(...ANSWERS), { maxLength: 6 }),
  later: fc.array(fc.oneof(LATER.dispute, LATER.ask, LATER.dashboard), { maxLength: 2 }),
  leaps: fc.array(
    fc.record({
      minutes: fc.constantFrom(2, 16, 61, 61, 400, 1_410, 1_530, 1_530, 1_530, 3_000),
      acts: fc.array(act, { maxLength: 2 }),
    }),
    { minLength: 3, maxLength: 9 },
  ),
}) as fc.Arbitrary<Debits>;

/** So that what the payment service was asked for comes to its end, by UPI after two days. */
const REST = [1, 1, 24, 24, 1, 1, 1, 1].map((hours) => hours * HOUR);

/** Lives it until nothing is debited any more. @returns what was seen of debits */
export async function liveDebits(world: PayWorld, life: Debits): Promise<DebitLog> {
  world.begin(life, true);
  world.schedule.sleepUntil(life.minuteOfDay);
  const { country, method, amounts } = ORGS[life.org];
  const org = someOrg(country);
  const log = new DebitLog(world, org.id);
  await addOrg(world, org);
  const { book } = world.rooms;
  await world.put(() => {
    book.post(org.id, { kind: "grant", amountMicroUsd: 20_000_000, refType: "test", refId: "start" });
  });
  listen(world, log, life);
  const first = amounts[life.amount] as number;
  log.registrations += 1;
  register(world, org.id, { method, copies: life.copies, approves: true });
  choose(world, org.id, { enabled: true, amountMinor: first, thresholdMicroUsd: limitOf(life.threshold) });
  spendAtOnce(world, org.id, 90, 3);
  const leaps = life.leaps.map(({ minutes }) => minutes * MINUTE);
  await world.run([...leaps, ...REST], (leap) => {
    for (const act of life.leaps[leap]?.acts ?? []) play(world, log, life, act);
    if (leap === leaps.length) cancel(world, org.id);
  });
  world.onChange = () => {};
  return log;
}

const limitOf = (threshold: number): number => THRESHOLDS[threshold] as number;

function listen(world: PayWorld, log: DebitLog, { answers, later }: Debits): void {
  const { engine } = world;
  engine.nextDebits.splice(0, engine.nextDebits.length, ...answers);
  const follow = [...later];
  world.refundsBegin = later.flatMap((one) => (one.do === "ask" ? [one.begins] : []));
  world.onChange = (change) => {
    if (change.kind === "refund") endRefund(world, change, []);
    if (change.kind !== "payment") return;
    const { payment } = change;
    if (payment.mandateId !== "") log.see(payment);
    if (payment.state !== "paid") return;
    const next = follow.shift();
    if (next !== undefined) begin(world, log.orgId, payment, next);
  };
}

function play(world: PayWorld, log: DebitLog, { org }: Debits, act: Act): void {
  const { method, amounts } = ORGS[org];
  const { orgId } = log;
  if (act.do === "spend") spendAtOnce(world, orgId, act.share, act.times);
  else if (act.do === "register") {
    log.registrations += 1;
    register(world, orgId, { method, ...act });
  } else if (act.do === "choose") {
    const amountMinor = amounts[act.amount] as number;
    choose(world, orgId, { enabled: act.enabled, amountMinor, thresholdMicroUsd: limitOf(act.threshold) });
  } else if (act.do === "cancel") cancel(world, orgId);
  else if (act.do === "grant") grant(world, orgId);
  else if (act.do === "topup") buy(world, orgId, { amountMinor: 20_000, paying: ["paid"] })(1);
  else moveAtBank(world, orgId, act.to);
}

/** Several calls end at the same time. */
function spendAtOnce(world: PayWorld, orgId: string, share: number, times: number): void {
  for (let i = 0; i < times; i++) spend(world, orgId, share);
}

interface Registration {
  readonly method: "upi" | "card" | "emandate";
  /** Requests with one key, as of a client that got no answer. */
  readonly copies: number;
  readonly approves: boolean;
}

type Begun = Extract<
  Awaited<ReturnType<PayRooms["operations"]["createMandate"]["run"]>>,
  { mandate: unknown }
>;

/** Whoever gets the page's address first answers on it; then the payer's browser comes back five times. */
function register(world: PayWorld, orgId: string, { method, copies, approves }: Registration): void {
  const key = newId("job", world.schedule.now());
  const input = { params: undefined, query: undefined, body: { method } };
  let isOpen = false;
  for (let copy = 1; copy <= copies; copy++)
    world.ask(
      `POST mandate ${copy}`,
      ({ operations }) => operations.createMandate.run(input, callerOf(orgId), headWith(key)),
      (answer) => {
        const { mandate, url } = answer as Begun;
        if (isOpen || url === "") return;
        isOpen = true;
        answerPage(world, mandate.mandate_ref, approves);
        comeBack(world, orgId, mandate.id);
      },
    );
}

function answerPage(world: PayWorld, ref: string, approves: boolean): void {
  const { engine } = world;
  world.atService(`the payer ${approves ? "approves" : "declines"}`, () => {
    if (approves) engine.approveMandate(ref);
    else engine.declineMandate(ref);
  });
}

function comeBack(world: PayWorld, orgId: string, id: string): void {
  const input = { params: { id }, query: undefined, body: undefined };
  for (let copy = 1; copy <= 5; copy++)
    world.ask(`mandate's return page ${copy}`, ({ operations }) =>
      operations.mandateReturnPage.run(input, callerOf(orgId), headWith("")),
    );
}

interface Choice {
  readonly enabled: boolean;
  readonly amountMinor: number;
  readonly thresholdMicroUsd: number;
}

/** Again and again until there is a mandate. */
function choose(world: PayWorld, orgId: string, { enabled, amountMinor, thresholdMicroUsd }: Choice): void {
  const body = { enabled, threshold_micro: thresholdMicroUsd, amount_minor: amountMinor };
  const input = { params: undefined, query: undefined, body };
  world.ask(`PUT auto-topup ${enabled ? amountMinor : "off"}`, ({ operations }) =>
    operations.setAutoTopup.run(input, callerOf(orgId), headWith("")),
  );
}

function cancel(world: PayWorld, orgId: string): void {
  const input = { params: undefined, query: undefined, body: undefined };
  world.ask("DELETE mandate", ({ operations }) =>
    operations.cancelMandate.run(input, callerOf(orgId), headWith("")),
  );
}

function grant(world: PayWorld, orgId: string): void {
  const refId = newId("job", world.schedule.now());
  world.ask("a grant", ({ book, store }) =>
    store.act(() => book.post(orgId, { kind: "grant", amountMicroUsd: 30_000_000, refType: "test", refId })),
  );
}

/** The payer or the bank changes a mandate where it was registered. */
function moveAtBank(world: PayWorld, orgId: string, to: "cancelled" | "paused" | "active"): void {
  const { engine } = world;
  world.atService(`the bank: ${to}`, () => {
    for (const { id, customerId, state } of engine.state.all("mandates"))
      if (customerId === orgId && (state === "active" || state === "paused"))
        engine.moveMandate(HOUSE, id, to);
  });
}
