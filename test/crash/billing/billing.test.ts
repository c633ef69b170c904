/**
 * The whole gateway killed with -9 while tens of people pay at the same time at a payment service that lives on, is asked about each payment
 * from all sides, and tells of each change five times: every payment is credited once, and the books balance. WEIR_CRASH_SEED repeats
 * a run's choices; `npm run test:crash` kills more often.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { amount } from "../../support/effort.ts";
import { type Moment, World } from "../account/world.ts";
import { type Customer, expectBooks } from "./books.ts";
import { type Habit, type Market, type Payer, pay, type Story } from "./payers.ts";
import { type PaymentService, startPaymentService } from "./service.ts";

const KILLS = Number(process.env.WEIR_CRASH_ROUNDS ?? amount(12, 2));
const SEED = Number(process.env.WEIR_CRASH_SEED ?? 20_261_205);
/** Fewer in `npm test`: most of its time is spent on the PDFs of their invoices. */
const PAYERS = process.env.WEIR_CRASH_ROUNDS === undefined ? amount(50, 30) : 50;
/** While the same payers pay. */
const KILLS_A_WAVE = 4;
const WAVES = Math.ceil(KILLS / KILLS_A_WAVE);
const ORGS = 10;
const COPIES = 5;
/** In the first of which after a start a life may end: of all that a wave writes, roughly. */
const MOST_APPENDS = 80;
const MOST_ANSWERS = 200;

const ADDRESS = {
  IN: { line1: "1 MG Road", city: "Bengaluru", state_code: "29", postal_code: "560001", country: "IN" },
  US: { line1: "1 Road", city: "Town", state_code: "CA", postal_code: "90001", country: "US" },
};

const random = seededRandom(SEED);

function chosenMoment(): Moment {
  if (random() < 0.2) return { at: "answer", count: Math.ceil(random() * MOST_ANSWERS) };
  const how = (["before", "torn", "behind"] as const)[Math.floor(random() * 3)] ?? "before";
  return { at: "append", count: Math.ceil(random() * MOST_APPENDS), how };
}

const moments: readonly Moment[] = Array.from({ length: KILLS }, chosenMoment);

let service: PaymentService;
let world: World;
const customers: Customer[] = [];
/** Until a gateway runs. */
let opening = Promise.withResolvers<void>();
let answers = 0;
let market: Market;

beforeAll(async () => {
  service = await startPaymentService();
  await service.control({ act: "webhooks", copies: COPIES });
  world = await World.open({ env: service.env });
  market = {
    world,
    service,
    lost: 0,
    slowest: { looks: 0, json: undefined },
    open: () => opening.promise,
    answered,
  };
  await world.start(moments[0]);
  const owner = await world.signIn("ada");
  for (let n = 0; n < ORGS; n++) {
    const country = n % 2 === 0 ? "IN" : "US";
    const org = await world.org(owner, undefined, country);
    const body = { billing_address: ADDRESS[country] };
    await world.done("PATCH", `/v1/orgs/${org.id}`, owner, { org, body });
    customers.push({ owner, org });
  }
});
afterAll(async () => {
  await world.close();
  await service.close();
});

let moment: Moment | undefined;

function answered(): void {
  answers++;
  if (moment?.at === "answer" && answers === moment.count) world.signal("SIGKILL");
}

const habitOf = (n: number): Habit => ({
  pays: n === 0 ? "wrong" : n === 1 ? "never" : n < 7 ? "after a failure" : "at once",
  refunds: n % 3 !== 0 ? 0 : n % 2 === 0 ? 0.5 : 1,
  disputes: n % 7 !== 3 ? "no" : n % 2 === 0 ? "open" : "won",
});

const payerOf = (wave: number, n: number): Payer => ({
  ...(customers[(n + wave) % ORGS] as Customer),
  name: `payer-${wave}-${n}`,
  amountMinor: 10_000 + 1000 * wave + 17 * n,
  habit: habitOf(n),
});

/** From now on payers are served, and the life ends at its moment. */
async function serve(next: Moment | undefined): Promise<void> {
  await service.tell(world.url);
  [moment, answers] = [next, 0];
  if (next?.at === "append") world.signal("SIGUSR2");
  opening.resolve();
}

/** Kills one life after another until the wave is over or has had its kills. @returns how many died by themselves */
async function killWhile(paying: Promise<unknown>, first: number, last: number): Promise<number> {
  let struck = 0;
  for (let kill = first; kill < last; kill++) {
    const { ended } = world;
    await serve(moments[kill]);
    if ((await Promise.race([ended.then(() => true), paying.then(() => false)])) === true) struck++;
    opening = Promise.withResolvers();
    await world.end("SIGKILL");
    await world.start(moments[kill + 1]);
  }
  await serve(undefined);
  return struck;
}

test(`${KILLS} kills while ${PAYERS} people pay: every payment is credited once, and the books balance`, {
  timeout: 60_000 + KILLS * 30_000,
}, async () => {
  console.log(`WEIR_CRASH_SEED=${SEED}`);
  const stories: Story[] = [];
  let struck = 0;
  let counts: Record<string, number> = {};
  for (let wave = 0; wave < WAVES; wave++) {
    await service.control({ act: "next_refunds", outcomes: ["refunded", "pending", "failed", "refunded"] });
    const payers = Array.from({ length: PAYERS }, (_, n) => payerOf(wave, n));
    const paying = Promise.all(payers.map((payer) => pay(market, payer)));
    const first = wave * KILLS_A_WAVE;
    struck += await killWhile(paying, first, Math.min(first + KILLS_A_WAVE, KILLS));
    stories.push(...(await paying));
    counts = await expectBooks(world, service, customers, stories);
    console.log(JSON.stringify({ wave, struck, ...counts }));
  }
  console.log(
    JSON.stringify({ ...counts, kills: KILLS, struck, lost: market.lost, slowest: market.slowest }),
  );
  expect(struck).toBeGreaterThan(0);
  expect(await world.end("SIGTERM")).toBe(0);
});
