/** The simulated payment services by themselves: their pages, what survives a restart, webhooks and the control API. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type PaymentSimulator,
  startPaymentSimulator,
} from "../../../simulator/payments/payment-simulator.ts";
import { systemClock } from "../../../src/base/clock.ts";

let dir: string;
let simulator: PaymentSimulator;

const start = async () => {
  simulator = await startPaymentSimulator({ clock: systemClock, file: join(dir, "state", "payments.jsonl") });
};

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "weir-payments-"));
  await start();
});
afterEach(async () => {
  await simulator.close();
  rmSync(dir, { recursive: true, force: true });
});

const RETURN = "http://127.0.0.1:9/billing?topup=1";

const checkout = (mode: "payment" | "mandate" = "payment") =>
  simulator.engine.openCheckout({
    house: "simulated",
    mode,
    reference: "tup_1",
    amount: 118_000,
    currency: "INR",
    cap: 1_500_000,
    description: "Credit <b>",
    payerName: "Asha & Co.",
    email: "a@example.com",
    customerId: "org_1",
    returnUrl: RETURN,
    expiresAtMs: systemClock.now() + 60_000,
    methods: ["upi", "card_domestic"],
  });

const visit = (id: string, form?: Record<string, string>) =>
  fetch(`${simulator.url}/pay/${id}`, {
    redirect: "manual",
    ...(form && { method: "POST", body: new URLSearchParams(form) }),
  });

describe("a hosted page", () => {
  test("says what is paid, escapes what others wrote, and needs no script", async () => {
    const page = await visit(checkout().id);
    const html = await page.text();
    expect(html).toContain("Pay ₹1,180.00");
    expect(html).toContain("Credit &lt;b&gt;");
    expect(html).toContain("Asha &amp; Co.");
    expect(html).not.toMatch(/<script/);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' http://127.0.0.1:9");
  });

  test.each([
    ["pay", "paid", "complete"],
    ["fail", "failed", "open"],
  ])("its button %s leaves the payment %s, and the visitor goes back", async (act, state, after) => {
    const { id } = checkout();
    const answer = await visit(id, { act, method: "card_domestic" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, RETURN]);
    const [payment] = [...simulator.engine.state.all("payments")];
    expect(payment).toMatchObject({ state, method: "card_domestic" });
    expect(simulator.engine.page(id)?.state).toBe(after);
  });

  test("can be left without paying, and is paid once", async () => {
    const { id } = checkout();
    expect((await visit(id, { act: "leave" })).status).toBe(303);
    expect([...simulator.engine.state.all("payments")]).toEqual([]);
    await visit(id, { act: "pay" });
    expect((await visit(id, { act: "pay" })).status).toBe(409);
    expect([...simulator.engine.state.all("payments")]).toHaveLength(1);
    expect(await (await visit(id)).text()).toContain("done already");
  });

  test.each([
    ["approve", "active"],
    ["decline", "failed"],
  ])("of a mandate: %s makes it %s", async (act, state) => {
    const { id } = checkout("mandate");
    expect(await (await visit(id)).text()).toContain("at most ₹15,000.00");
    await visit(id, { act });
    expect([...simulator.engine.state.all("mandates")]).toMatchObject([{ state }]);
  });

  test("is not shown under another name, nor takes forms from elsewhere", async () => {
    const { id } = checkout();
    const headers = { origin: "http://evil.example" };
    const answer = await fetch(`${simulator.url}/pay/${id}`, { method: "POST", headers, body: "act=pay" });
    expect(answer.status).toBe(403);
    expect((await visit("nothing")).status).toBe(404);
  });
});

test("what it knows, its port, its key and its answers survive a restart", async () => {
  const { id } = checkout();
  const ask = () =>
    fetch(`${simulator.url}/simulated/checkouts/${id}/expire`, {
      method: "POST",
      headers: { authorization: `Bearer ${simulator.keys.simulatedKey}`, "idempotency-key": "one" },
    });
  simulator.api.plant({ match: "expire", kind: "error_after" });
  expect((await ask()).status).toBe(500);
  const { url, keys, webhookSecret } = simulator;
  await simulator.close();
  await start();
  expect(simulator).toMatchObject({ url, keys, webhookSecret });
  expect(simulator.engine.page(id)?.state).toBe("expired");
  const again = await ask();
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([500, "true"]);
});

test("the same key with another request is refused", async () => {
  const post = (total: number) =>
    fetch(`${simulator.url}/simulated/refunds`, {
      method: "POST",
      headers: { authorization: `Bearer ${simulator.keys.simulatedKey}`, "idempotency-key": "one" },
      body: JSON.stringify({ reference: "r", paymentRef: "none", total: { currency: "INR", minor: total } }),
    });
  expect((await post(1)).status).toBe(404);
  expect(await (await post(2)).json()).toMatchObject({ error: { code: "idempotency_error" } });
});

test("the control API plays acts, and refuses what does not fit", async () => {
  const { id } = checkout();
  const act = (body: object) =>
    fetch(`${simulator.url}/control`, { method: "POST", body: JSON.stringify(body) });
  expect(await (await act({ act: "pay", checkout: id })).json()).toMatchObject({ state: "paid" });
  expect((await act({ act: "pay", checkout: "none" })).status).toBe(404);
  expect((await act({ act: "explode" })).status).toBe(400);
});

test("no call without its key is answered", async () => {
  for (const path of ["/simulated/payments/x", "/v1/payments/x"])
    expect((await fetch(simulator.url + path)).status).toBe(401);
});
