/** The hook that takes webhooks of payment gateways, with a real store and real jobs. */

import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { timedSignature } from "../../../../simulator/payments/notices.ts";
import { systemRandom, systemTimers } from "../../../../src/base/clock.ts";
import type { HttpHead } from "../../../../src/base/operation/http-head.ts";
import { DAY_MS } from "../../../../src/base/time.ts";
import { GatewayError, type PaymentGateway } from "../../../../src/billing/payments/gateway.ts";
import { type Inbound, openInbound, readNotice } from "../../../../src/billing/payments/inbound.ts";
import { RazorpayGateway } from "../../../../src/billing/payments/razorpay/gateway.ts";
import { StripeGateway } from "../../../../src/billing/payments/stripe/gateway.ts";
import type { JobHandler } from "../../../../src/store/jobs/job.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { type TestClock, testClock } from "./fixtures.ts";

const SECRET = "whsec_inbound";

let dir: string;
let store: Store;
let clock: TestClock;
let jobs: Jobs;
let inbound: Inbound;
let seen: string[];
const erased = new Set<string>();
let readFirst: () => void = () => {};

function open(): void {
  store = openStore(dir, { actsTwice: true });
  jobs = new Jobs({
    store,
    clock,
    timers: systemTimers,
    random: systemRandom,
    holder: "test",
    onFailure: () => {},
  });
  const apiBase = "http://127.0.0.1:9";
  const common = { clock, apiBase, webhookSecrets: [SECRET] };
  const gateways = new Map<string, PaymentGateway>([
    ["stripe", new StripeGateway({ ...common, secretKey: "sk" })],
    ["razorpay", new RazorpayGateway({ ...common, keyId: "id", keySecret: "secret" })],
  ]);
  inbound = openInbound({
    store,
    clock,
    jobs,
    gatewayOf: (id) => gateways.get(id),
    onFailure: () => {},
    isErased: (orgId) => erased.has(orgId),
  });
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "weir-inbound-"));
  clock = testClock();
  seen = [];
  open();
});
afterEach(async () => {
  inbound.close();
  await jobs.stop();
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

const head = (headers: Record<string, string>): HttpHead => ({
  header: (name) => headers[name] ?? "",
  cookie: () => undefined,
  address: "127.0.0.1",
});

const stripeEvent = (id: string, type = "payment_intent.succeeded") =>
  JSON.stringify({ id, type, data: { object: { id: "pi_1", metadata: { reference: "tup_1" } } } });

async function post(gateway: string, body: string, headers: Record<string, string>) {
  return inbound.hook.run(Buffer.from(body), { gateway }, head(headers), "request");
}

const postStripe = (body: string, secret = SECRET) =>
  post("stripe", body, { "stripe-signature": timedSignature(body, secret, clock.now()) });

const postRazorpay = (id: string, body: string) =>
  post("razorpay", body, {
    "x-razorpay-event-id": id,
    "x-razorpay-signature": createHmac("sha256", SECRET).update(body).digest("hex"),
  });

const razorpayBody = JSON.stringify({
  event: "payment.captured",
  payload: { payment: { entity: { id: "pay_1" } } },
});

const rows = (table: string): number => Array.from(store.table(table).range()).length;

/** Runs jobs until this event was read. */
async function workUntil(last: string): Promise<void> {
  await new Promise<void>((resolve) => {
    inbound.onNotice((gatewayId, { eventId, subject }) => {
      seen.push(`${gatewayId} ${eventId} ${JSON.stringify(subject)}`);
      if (eventId === last) resolve();
      else if (eventId === "evt_1") readFirst();
      return undefined;
    });
    void jobs.start();
  });
}

describe("a webhook of a payment gateway", () => {
  test("is stored with a job that says what to read, and a replay does nothing", async () => {
    for (let i = 0; i < 3; i++) await postStripe(stripeEvent("evt_1"));
    expect(rows("payments.events")).toBe(1);
    const { promise: wasRead, resolve } = Promise.withResolvers<void>();
    readFirst = resolve;
    const worked = workUntil("evt_2");
    await wasRead;
    while (jobs.has(readNotice, "stripe:evt_1")) await new Promise(setImmediate);
    // It is known also when its job is over; jobs of one object run in the order in which they were added.
    await postStripe(stripeEvent("evt_1"));
    await postStripe(stripeEvent("evt_2"));
    await worked;
    const subject = JSON.stringify({ kind: "payment", ref: "pi_1", reference: "tup_1" });
    expect(seen).toEqual([`stripe evt_1 ${subject}`, `stripe evt_2 ${subject}`]);
  });

  test("is known again after a restart", async () => {
    await postStripe(stripeEvent("evt_1"));
    inbound.close();
    await jobs.stop();
    await store.close();
    open();
    await postStripe(stripeEvent("evt_1"));
    expect(rows("payments.events")).toBe(1);
  });

  test("is read at last, though the payment gateway is away for a day, and is given up after a week", async () => {
    let isAway = true;
    let runs = 0;
    let handle: JobHandler<unknown>["run"] = () => undefined;
    const handled = {
      enqueue: () => {},
      handle: (_: unknown, handler: JobHandler<unknown>) => (handle = handler.run),
    };
    const listening = openInbound({
      store,
      clock,
      gatewayOf: () => undefined,
      onFailure: () => {},
      isErased: () => false,
      jobs: handled as unknown as Jobs,
    });
    listening.onNotice(() => {
      runs += 1;
      if (isAway) throw new GatewayError("busy", "no answer");
      return undefined;
    });
    const createdAtMs = clock.now();
    const run = async () => {
      const job = { key: "k", orgId: "", createdAtMs, attempt: 1, signal: new AbortController().signal };
      const payload = { gatewayId: "stripe", eventId: "evt_1", kind: "dispute", ref: "dp_1", reference: "" };
      return await handle(payload, job);
    };
    while (clock.now() < createdAtMs + DAY_MS) {
      const again = (await run())?.againAtMs ?? 0;
      expect(again - clock.now()).toBeGreaterThan(1000);
      expect(again - clock.now()).toBeLessThanOrEqual(3_600_000);
      clock.nowMs = again;
    }
    // Seldom enough not to be a burden, often enough to be soon.
    expect(runs).toBeLessThan(60);
    isAway = false;
    expect(await run()).toBeUndefined();
    isAway = true;
    clock.nowMs += 7 * DAY_MS;
    await expect(run()).rejects.toMatchObject({ kind: "busy" });
    listening.close();
  });

  test("is an org's once it was read: its erasure leaves its id and what it was about, and no body", async () => {
    const body = (id: string) => stripeEvent(id).replace("pi_1", `pi_${id}`);
    const bodies = () =>
      Array.from(store.table<{ body: string }>("payments.events").range(), (row) => row.value.body);
    const orgs = new Map([
      ["a", "org_1"],
      ["b", "org_1"],
      ["c", "org_1"],
      ["d", "org_2"],
      ["e", "org_3"],
    ]);
    erased.add("org_3");
    inbound.onNotice((_, { eventId }) => ({ orgId: () => orgs.get(eventId) }));
    void jobs.start();
    for (const id of ["a", "b", "c", "d", "e", "nobody"]) {
      await postStripe(body(id));
      while (jobs.has(readNotice, `stripe:${id}`)) await new Promise(setImmediate);
    }
    const told = ["a", "b", "c", "d"].map(body);
    expect(bodies()).toEqual([...told, "", body("nobody")]);
    expect(await store.act(() => inbound.erase("org_1", 2))).toBe(true);
    expect(await store.act(() => inbound.erase("org_1", 2))).toBe(false);
    expect(await store.act(() => inbound.erase("org_1", 2))).toBe(false);
    expect(bodies()).toEqual(["", "", "", body("d"), "", body("nobody")]);
    const left = { eventId: "a", orgId: "org_1", subject: { kind: "payment", ref: "pi_a" } };
    expect(store.table("payments.events").get(["stripe", "a"])).toMatchObject(left);
    // It is known, though its body is gone.
    await postStripe(body("a"));
    expect([rows("payments.events"), rows("payments.events_of_orgs")]).toEqual([6, 1]);
  });

  test("that nobody signed writes nothing", async () => {
    await expect(postStripe(stripeEvent("evt_1"), "whsec_other")).rejects.toThrow("signature");
    await expect(post("stripe", "{", {})).rejects.toThrow("signature");
    await expect(post("razorpay", "{", { "x-razorpay-signature": "0".repeat(64) })).rejects.toThrow(
      "signature",
    );
    expect([rows("payments.events"), rows("payments.event_ids"), rows("payments.event_days")]).toEqual([
      0, 0, 0,
    ]);
  });

  test("of no interest is answered and writes nothing", async () => {
    await postStripe(stripeEvent("evt_1", "customer.created"));
    expect(rows("payments.events")).toBe(0);
  });

  test("for a gateway that is not here is 404, and its size is bounded", async () => {
    await expect(post("paypal", "{}", {})).rejects.toMatchObject({ status: 404 });
    await expect(post("__proto__", "{}", {})).rejects.toMatchObject({ status: 404 });
    expect(inbound.hook.maxBytes).toBe(262_144);
  });

  test("of Razorpay is known for good, though what it said is forgotten after 90 days", async () => {
    await postRazorpay("event_1", razorpayBody);
    await postStripe(stripeEvent("evt_1"));
    clock.nowMs += 92 * DAY_MS;
    await store.act(() => store.table("payments.events").remove(["razorpay", "event_1"]));
    await postRazorpay("event_1", razorpayBody);
    expect(store.table("payments.events").get(["razorpay", "event_1"])).toBeUndefined();
    expect(store.table("payments.event_ids").get(["razorpay", "event_1"])).toBeDefined();
  });
});
