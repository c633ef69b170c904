/**
 * People who pay while the gateway is killed. Each goes the whole way from a quote to credit, some to a refund or a dispute; where an
 * answer is lost they ask again, with the same key, until somebody answers.
 */
import type { Answer } from "../../support/gateway.ts";
import { Hopeless, until } from "../../support/wait.ts";
import type { Org, Person, World } from "../account/world.ts";
import type { PaymentService } from "./service.ts";

/** What a payer does beside the usual. */
export interface Habit {
  /** `never`: leaves the page. `wrong`: another amount than was asked for. */
  readonly pays: "at once" | "after a failure" | "never" | "wrong";
  /** Share of the amount; 0: none. */
  readonly refunds: 0 | 0.5 | 1;
  readonly disputes: "no" | "open" | "won";
}

export interface Payer {
  readonly name: string;
  readonly owner: Person;
  readonly org: Org;
  readonly amountMinor: number;
  readonly habit: Habit;
}

/** What became of it, as the payer was told. */
export interface Story {
  readonly payer: Payer;
  readonly topupId: string;
  readonly refundId: string | undefined;
}

/** What payers share. */
export interface Market {
  readonly world: World;
  readonly service: PaymentService;
  /** Resolves while a gateway runs. */
  readonly open: () => Promise<void>;
  /** Told of each answer of the gateway. */
  readonly answered: () => void;
  /** Calls whose answer was lost. */
  lost: number;
  /** The longest wait for what was told or asked for, and what came then. */
  slowest: { looks: number; json: unknown };
}

const RETURN_PAGES = 2;
const POLLS = 2;
/** Asks until there is an answer that is not for later. */
async function asked(market: Market, call: () => Promise<Answer>): Promise<Answer> {
  return await until(
    "there is an answer that is not for later",
    async () => {
      await market.open();
      const answer = await call().catch((error: unknown) => {
        market.lost++;
        throw error;
      });
      market.answered();
      return answer;
    },
    ({ status }) => status !== 503 && status !== 429,
  );
}

async function done(market: Market, call: () => Promise<Answer>): Promise<Answer["json"]> {
  const { status, json, text } = await asked(market, call);
  if (status >= 300) throw new Hopeless(`${status} ${text}`);
  return json;
}

/** Twice at the same time: who pressed the button twice. */
async function twice(market: Market, call: () => Promise<Answer>): Promise<Answer["json"]> {
  const [one, other] = await Promise.all([done(market, call), done(market, call)]);
  return [one, other];
}

export async function pay(market: Market, payer: Payer): Promise<Story> {
  const { world, service } = market;
  const { owner, org, name, amountMinor, habit } = payer;
  const quote = () =>
    world.call("GET", `/v1/credits/topups/quote?amount_minor=${amountMinor}`, owner, { org });
  const { total_minor: totalMinor } = await done(market, quote);
  const body = { amount_minor: amountMinor };
  const open = () => world.call("POST", "/v1/credits/topups", owner, { org, body, idempotencyKey: name });
  const [opened, again] = await twice(market, open);
  const { id, gateway_ref: ref, total_minor: bound } = opened.topup;
  if (again.topup.id !== id || again.checkout_url !== opened.checkout_url)
    throw new Error(`${name} has two top-ups: ${id}, ${again.topup.id}`);
  if (bound !== totalMinor) throw new Error(`${name} was quoted ${totalMinor} and pays ${bound}`);
  const told: Story = { payer, topupId: id, refundId: undefined };
  if (habit.pays === "never") return told;
  if (habit.pays === "wrong") {
    await service.control({ act: "pay", checkout: ref, amount: totalMinor - 1 });
    return told;
  }
  if (habit.pays === "after a failure") await service.click(opened.checkout_url, "fail");
  const back = await service.click(opened.checkout_url, "pay");
  if (back === undefined) throw new Error(`${name} found the page over`);
  const paid = await comeBack(market, payer, id, back);
  const refundId = habit.refunds === 0 ? undefined : await refund(market, payer, id);
  if (habit.disputes !== "no") await dispute(market, payer, id, paid.payment_ref);
  return { ...told, refundId };
}

/** The return page and the top-up, looked at by several at once until it is paid. @returns the top-up */
async function comeBack(market: Market, { owner, org }: Payer, id: string, back: string) {
  const { world } = market;
  const read = () => world.call("GET", `/v1/credits/topups/${id}`, owner, { org });
  const looks = [
    ...Array.from({ length: RETURN_PAGES }, () => () => world.call("GET", back)),
    ...Array.from({ length: POLLS }, () => read),
  ];
  await Promise.all(looks.map((look) => done(market, look)));
  return await comes(market, "the top-up is paid", read, ({ status }) => status === "paid");
}

async function comes(
  market: Market,
  what: string,
  read: () => Promise<Answer>,
  holds: (json: Answer["json"]) => boolean | Promise<boolean>,
): Promise<Answer["json"]> {
  let looks = 0;
  const look = () => {
    looks++;
    return done(market, read);
  };
  const json = await until(what, look, holds).catch((error: Error) => {
    throw new Error(`${error.message}\n${market.world.output}`);
  });
  if (looks > market.slowest.looks) market.slowest = { looks, json };
  return json;
}

/** Some are refused late by the payment service, and some wait there. @returns id */
async function refund(market: Market, payer: Payer, topupId: string): Promise<string> {
  const { world, service } = market;
  const { owner, org, name, amountMinor, habit } = payer;
  const body = {
    amount_minor: Math.floor(amountMinor * habit.refunds),
    reason: name,
    idempotency_key: `${name}-back`,
  };
  const ask = () => world.call("POST", `/v1/credits/topups/${topupId}/refund`, owner, { org, body });
  const [{ refund: asked }, { refund: again }] = await twice(market, ask);
  if (asked.id !== again.id) throw new Error(`${name} has two refunds: ${asked.id}, ${again.id}`);
  const read = () => world.call("GET", `/v1/credits/refunds/${asked.id}`, owner, { org });
  await comes(market, "the refund is over", read, async ({ refund: { status, gateway_ref: ref } }) => {
    if (status !== "pending") return true;
    if (ref !== "")
      await service.control({ act: "finish_refund", house: "simulated", refund: ref, outcome: "refunded" });
    return false;
  });
  return asked.id;
}

async function dispute(market: Market, { owner, org, habit }: Payer, topupId: string, paymentRef: string) {
  const { world, service } = market;
  const read = () => world.call("GET", `/v1/credits/topups/${topupId}`, owner, { org });
  const { id } = await service.control({ act: "dispute", house: "simulated", payment: paymentRef });
  await comes(market, "the dispute is known", read, ({ status }) => status === "disputed");
  if (habit.disputes !== "won") return;
  await service.control({ act: "move_dispute", house: "simulated", dispute: id, state: "won" });
  await comes(market, "the dispute is over", read, ({ status }) => status !== "disputed");
}
