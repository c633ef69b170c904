/** A day of all orgs: top-ups, calls that spend credit, gifts that expire, refunds that they ask for. */

import { newId } from "../../../src/base/ids.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import { refundableOf } from "../../../src/billing/refunds/acts.ts";
import type { RefundRow, refundWire } from "../../../src/billing/refunds/refund.ts";
import { isPaid } from "../../../src/billing/topups/topup.ts";
import type { Lot } from "../../../src/credits/ledger/lots.ts";
import type { Customer } from "./customers.ts";
import { Deviation } from "./figures.ts";
import { buy } from "./payers.ts";
import { callerOf } from "./rooms.ts";
import { kindOf, type World } from "./world.ts";

/** Plans the day that begins now. */
export function planDay(world: World): void {
  const { dice, customers } = world.parts;
  const sometime = () => dice.between(0, DAY_MS);
  for (const customer of customers) {
    if (dice.chance(customer.topupsPerDay)) world.later(sometime(), () => buy(world, customer));
    for (let calls = dice.integer(0, 2); calls > 0; calls--)
      world.later(sometime(), () => spend(world, customer));
    if (dice.chance(1 / 120)) world.later(sometime(), () => grant(world, customer));
    if (dice.chance(1 / 80)) world.later(sometime(), () => refund(world, customer));
  }
  world.later(sometime(), () => expireGrants(world));
}

/** A call: credit is held, and charged seconds later; the process may die between. */
function spend(world: World, { org, appetite }: Customer): void {
  const { process, parts } = world;
  if (process === undefined) return;
  const { purse, tallies } = process.rooms;
  const { dice, figures, time } = parts;
  const heldMicroUsd = Math.floor(purse.available(org.id) * dice.between(0, appetite));
  if (heldMicroUsd < 1000) return;
  const hold = purse.hold(org.id, heldMicroUsd);
  if (hold === undefined) throw new Deviation(`${org.id}: what is available cannot be held`);
  const amountMicroUsd = Math.floor(heldMicroUsd * dice.between(0, 1.02));
  world.later(dice.between(500, 20_000), async () => {
    if (process.isDead) return;
    await process.store.act(() => {
      purse.settle(hold, { requestId: newId("job", time.now()), amountMicroUsd, atMs: time.now() });
      tallies.add("spent", org.id, amountMicroUsd);
    });
    figures.add("credit: calls");
    figures.add("credit: spent, micro-USD", amountMicroUsd);
  });
}

async function grant(world: World, { org }: Customer): Promise<void> {
  const { process, parts } = world;
  if (process === undefined) return;
  const { book, lots, tallies } = process.rooms;
  const { dice, figures, time } = parts;
  const refId = newId("job", time.now());
  const amountMicroUsd = dice.integer(1, 20_000_000);
  const expiresAtMs = dice.chance(0.8) ? time.now() + dice.integer(3, 60) * DAY_MS : undefined;
  await process.store.act(() => {
    book.post(org.id, { kind: "grant", amountMicroUsd, refType: "grant", refId });
    if (expiresAtMs !== undefined) lots.expires(org.id, refId, expiresAtMs);
    tallies.add("granted", org.id, amountMicroUsd);
  });
  figures.add("credit: grants");
}

/** What is left of a grant goes when its time is over, unless it is held for a call. */
async function expireGrants(world: World): Promise<void> {
  const { process, parts } = world;
  if (process === undefined) return;
  const { book, lots, tallies } = process.rooms;
  const nowMs = parts.time.now();
  for (const { org } of parts.customers) {
    // What a plan included is expired by its own job.
    const isOver = ({ refType, expiresAtMs }: Lot) =>
      refType === "grant" && expiresAtMs !== null && expiresAtMs <= nowMs;
    if (!lots.of(org.id).grants.some(isOver)) continue;
    const expired = await process.store.act(() => {
      let sum = 0;
      for (const { refId, leftMicroUsd } of lots.advance(org.id).grants.filter(isOver)) {
        const amountMicroUsd = -leftMicroUsd;
        const posted = book.post(org.id, { kind: "expiry", amountMicroUsd, refType: "expiry", refId });
        if (posted.outcome !== "posted") continue;
        tallies.add("expired", org.id, leftMicroUsd);
        sum += 1;
      }
      return sum;
    });
    parts.figures.add("credit: grants expired", expired);
  }
}

/** Asks for a refund of one of the newest top-ups: all of it, a part, or more than there is. */
async function refund(world: World, { org }: Customer): Promise<void> {
  const { process, parts } = world;
  if (process === undefined) return;
  const { rooms } = process;
  const { dice, figures } = parts;
  const paid = [...rooms.topups.of(org.id)].slice(0, 8).filter(isPaid);
  if (paid.length === 0) return;
  const topup = dice.pick(paid);
  const { minor } = refundableOf(rooms, topup);
  const way = dice.weighted({ whole: 45, part: 45, over: 10 });
  const amountMinor =
    way === "over" ? minor + 1 : way === "whole" ? minor : dice.integer(1, Math.max(1, minor));
  if (amountMinor < 1) return;
  figures.add(`refunds: asked for, ${way}`);
  const body = { amount_minor: amountMinor, reason: "", idempotency_key: newId("job", parts.time.now()) };
  const ask = () =>
    rooms.operations.refundTopup.run(
      { params: { id: topup.id }, body, query: undefined },
      callerOf(org.id),
      NO_HEAD,
    );
  try {
    const [one, other] = await Promise.all(dice.chance(0.3) ? [ask(), ask()] : [ask()]);
    if (way === "over")
      throw new Deviation(`more than refundable was refunded of ${topup.id}: ${amountMinor}`);
    if (other !== undefined && idOf(one) !== idOf(other))
      throw new Deviation(`one key, two refunds of ${topup.id}`);
  } catch (error) {
    if (kindOf(error) !== "not_refundable") throw error;
    figures.add("refunds: not refundable");
  }
}

const idOf = (answer: unknown): RefundRow["id"] =>
  (answer as { refund: ReturnType<typeof refundWire> }).refund.id;
const NO_HEAD = { header: () => "", cookie: () => undefined, address: "" };
