/** Subscriptions in a schedule: months that end while nobody looks, are paid late, and asked for twice. */
import fc from "fast-check";
import { expect } from "vitest";
import { newId } from "../../../src/base/ids.ts";
import { expectBooks } from "../../support/billing/books.fixtures.ts";
import { DAY, type TestPlans } from "../../support/billing/plans.fixtures.ts";
import { wholeLedger } from "../../support/credits/fixtures.ts";
import { someOrg } from "./fixtures.ts";
import { checkOrg } from "./once.checks.ts";
import { buy, callerOf, run, spend } from "./once.lives.ts";
import { addOrg, headWith, type PayWorld, type RunOptions } from "./once.world.ts";

type Act =
  | { readonly do: "choose"; readonly planId: string; readonly times: number }
  | { readonly do: "topup"; readonly amountMinor: number }
  | { readonly do: "spend"; readonly share: number };

export interface Months extends RunOptions {
  readonly startMicroUsd: number;
  readonly planId: string;
  readonly asked: number;
  /** Days that pass at once, and what people do then, at the same time as what is due. */
  readonly leaps: readonly { readonly days: number; readonly acts: readonly Act[] }[];
}

const planId = fc.constantFrom("starter", "team", "team", "local");
const act = fc.oneof(
  fc.record({ do: fc.constant("choose"), planId, times: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant("topup"), amountMinor: fc.integer({ min: 1_000, max: 30_000 }) }),
  fc.record({ do: fc.constant("spend"), share: fc.integer({ min: 1, max: 100 }) }),
);

export const months = fc.record({
  ...run,
  startMicroUsd: fc.integer({ min: 20_000_000, max: 400_000_000 }),
  planId: fc.constantFrom("starter", "team"),
  asked: fc.integer({ min: 1, max: 3 }),
  leaps: fc.array(
    fc.record({ days: fc.integer({ min: 1, max: 32 }), acts: fc.array(act, { maxLength: 2 }) }),
    { minLength: 2, maxLength: 6 },
  ),
}) as fc.Arbitrary<Months>;

/** So that what was begun last comes to its end. */
const REST = Array.from({ length: 6 }, () => DAY / 24);

/** Lives them and checks the books. */
export async function liveMonths(world: PayWorld, life: Months): Promise<void> {
  world.begin(life);
  const org = someOrg("US");
  await addOrg(world, org);
  const { book } = world.rooms;
  const start = {
    kind: "grant",
    amountMicroUsd: life.startMicroUsd,
    refType: "test",
    refId: "start",
  } as const;
  await world.put(() => void book.post(org.id, { ...start, kind: "topup" }));
  choose(world, org.id, life.planId, life.asked);
  await world.run([...life.leaps.map(({ days }) => days * DAY), ...REST], (leap) => {
    for (const act of life.leaps[leap]?.acts ?? []) begin(world, org.id, act);
  });
  checkMonths(world, org.id);
}

/** Each copy with the same key, as a client that got no answer asks again. */
function choose(world: PayWorld, orgId: string, planId: string, times: number): void {
  const key = newId("job", world.schedule.now());
  const input = { params: undefined, query: undefined, body: { plan_id: planId } };
  for (let copy = 1; copy <= times; copy++)
    world.ask(`POST subscription ${planId} ${copy}`, ({ operations }) =>
      operations.changeSubscription.run(input, callerOf(orgId), headWith(key)),
    );
}

function begin(world: PayWorld, orgId: string, act: Act): void {
  if (act.do === "choose") choose(world, orgId, act.planId, act.times);
  else if (act.do === "spend") spend(world, orgId, act.share);
  else buy(world, orgId, { amountMinor: act.amountMinor, paying: ["paid"] })(1);
}

function checkMonths(world: PayWorld, orgId: string): void {
  const { rooms } = world;
  const { events } = checkOrg(world, orgId);
  const ledger = wholeLedger(rooms.book, orgId);
  expectBooks(
    {
      ledger: () => ledger,
      balance: () => rooms.book.balance(orgId).balanceMicroUsd,
      statements: () => [...rooms.invoiceTables.of(orgId)].filter(({ kind }) => kind === "statement"),
      row: () => rooms.subscriptions.get(orgId),
      rooms,
    } as unknown as TestPlans,
    orgId,
  );
  // Each month that was paid whole and is not the first one was told once.
  const whole = ledger.filter((entry) => entry.kind === "subscription" && /\/[1-9]\d*\/0$/.test(entry.refId));
  expect(events.filter(({ type }) => type === "subscription.renewed")).toHaveLength(whole.length);
}
