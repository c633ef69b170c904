/** Payments in a whole gateway: the simulated service in it, its webhooks over a socket, and what a restart leaves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { startPaymentSimulator } from "../../../../simulator/payments/payment-simulator.ts";
import { systemClock, systemRandom, systemTimers } from "../../../../src/base/clock.ts";
import { Listeners } from "../../../../src/base/network/listeners.ts";
import { openPaymentRoom } from "../../../../src/billing/payments/open.ts";
import { simulatedPayments } from "../../../../src/host/gateway/billing-ports.ts";
import { openServices } from "../../../../src/host/services/services.ts";
import { readConfig } from "../../../../src/host/settings/config.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { openStore } from "../../../../src/store/store.ts";
import { testGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/wait.ts";

const dir = mkdtempSync(join(tmpdir(), "weir-pay-"));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const call = () => ({ idempotencyKey: `key-${systemRandom()}`, signal: new AbortController().signal });

/** The room as a gateway opens it, told that the gateway listens at `port`. */
async function room(port: number) {
  const store = openStore(dir);
  const [clock, timers, random] = [systemClock, systemTimers, systemRandom];
  const jobs = new Jobs({ store, clock, timers, random, holder: "test", onFailure: () => {} });
  const config = readConfig({ DATA_DIR: dir });
  const log = pino({ level: "silent" });
  const services = openServices(config, { clock, log, listeners: new Listeners() });
  const opened = await openPaymentRoom(config.payments, {
    store,
    clock,
    jobs,
    log,
    isErased: () => false,
    simulatedPayments: simulatedPayments(services),
  });
  services.listensAt(port);
  opened.start();
  const close = async () => {
    opened.close();
    await services.close();
    await jobs.stop();
    await store.close();
  };
  return { ...opened, ports: () => services.state().ports, close };
}

test("a payment on the built-in page is still known after a restart, at the same address", async () => {
  const before = await room(9);
  const gateway = before.gateways.forCurrency("INR");
  expect(gateway?.id).toBe("simulated");
  const page = await gateway?.createCheckout(
    {
      reference: "tup_1",
      payer: { orgId: "org_1", name: "Asha", email: "a@example.com" },
      total: { currency: "INR", minor: 118_000 },
      description: "Credit",
      methods: [],
      returnUrl: "http://127.0.0.1:9/back",
      expiresAtMs: systemClock.now() + 1_800_000,
    },
    call(),
  );
  const { ref = "", url = "" } = page ?? {};
  expect(before.ports()).toEqual([Number(new URL(url).port)]);
  await before.close();
  const after = await room(9);
  await until(
    "the page is there again",
    async () => (await fetch(url).catch(() => undefined))?.status === 200,
  );
  await fetch(url, { method: "POST", body: new URLSearchParams({ act: "pay" }), redirect: "manual" });
  const checkout = await after.gateways.forCurrency("INR")?.readCheckout(ref, call());
  expect(checkout?.payments).toMatchObject([
    { state: "paid", reference: "tup_1", total: { minor: 118_000 } },
  ]);
  await after.close();
});

test("a gateway refuses webhooks of payment services that it does not use, that nobody signed, or that are too long", async () => {
  const gateway = await testGateway();
  const post = (id: string, body: string) =>
    gateway.call("POST", `/webhooks/payments/${id}`, { key: null, body });
  expect((await post("stripe", "{}")).status).toBe(404);
  expect((await post("simulated", "{}")).status).toBe(400);
  expect((await post("simulated", "x".repeat(300_000))).status).toBe(413);
  await gateway.stop();
});

test("a top-up whose page was made and whose answer was lost is opened when it is asked for again at another address", async () => {
  const simulator = await startPaymentSimulator({ clock: systemClock });
  const { url, keys, webhookSecret } = simulator;
  const gateway = await testGateway({
    env: {
      PAYMENTS_SIMULATOR_URL: url,
      PAYMENTS_SIMULATOR_KEY: keys.simulatedKey,
      PAYMENTS_SIMULATOR_WEBHOOK_SECRET: webhookSecret,
    },
  });
  const { port } = new URL(gateway.url);
  const ask = (host: string) =>
    gateway.call("POST", "/v1/credits/topups", {
      body: { amount_minor: 2500 },
      headers: { host: `${host}:${port}`, "idempotency-key": "lost" },
    });
  await simulator.control({ act: "fault", match: "POST /simulated/checkouts", kind: "drop_after" });
  expect((await ask("127.0.0.1")).json.error.code).toBe("gateway_unavailable");
  const { status, json } = await ask("localhost");
  expect(status).toBe(201);
  simulator.engine.pay(json.topup.gateway_ref);
  const read = async () => (await gateway.call("GET", `/v1/credits/topups/${json.topup.id}`)).json;
  expect(await read()).toMatchObject({ id: json.topup.id, status: "paid", amount_minor: 2500 });
  expect((await ask("127.0.0.1")).json.topup.id).toBe(json.topup.id);
  await gateway.stop();
  await simulator.close();
});
