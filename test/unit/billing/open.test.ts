/** The wing of billing opened whole, without a gateway around it: what it asks of its ports, and what it gives. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountTables } from "../../../src/account/tables.ts";
import { Tickets } from "../../../src/account/tickets/tickets.ts";
import { systemTimers } from "../../../src/base/clock.ts";
import { cursors } from "../../../src/base/operation/cursor.ts";
import { USUAL_QUOTAS } from "../../../src/base/quota.ts";
import { autoTopupHook } from "../../../src/billing/auto-topups/open.ts";
import { type Billing, openBilling } from "../../../src/billing/open.ts";
import { openCredits } from "../../../src/credits/ledger/credits.ts";
import { Audit } from "../../../src/store/events/audit.ts";
import { Events } from "../../../src/store/events/events.ts";
import { Jobs } from "../../../src/store/jobs/jobs.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { PLANS } from "../../support/billing/plans.fixtures.ts";
import { ManualClock } from "../../support/credits/fixtures.ts";

const SETTINGS = {
  supplier: undefined,
  rates: { listed: [], always: "88.50000000" },
  fxUrl: undefined,
  payments: {
    gateways: { INR: "simulated", USD: "simulated" },
    stripe: undefined,
    razorpay: undefined,
    simulator: undefined,
  },
  plans: PLANS,
  defaultPlan: "local",
  byokFee: { bps: 500, microUsdPerRequest: 20 },
  quotas: USUAL_QUOTAS,
  publicUrl: undefined,
  isLocalOnly: true,
} as const;

/** The machine's simulated service, as far as it is asked for. */
const service = { isUsed: false, reached: 0, changed: () => {} };

const folder = mkdtempSync(join(tmpdir(), "weir-billing-"));
let store: Store;
let billing: Billing;

beforeAll(async () => {
  store = openStore(folder);
  const clock = new ManualClock("2026-11-23T10:00:00Z");
  const onFailure = (error: unknown) => {
    throw error;
  };
  const [events, audit] = [new Events({ store, clock, onFailure }), new Audit({ store, clock, onFailure })];
  const topUpHook = autoTopupHook(store);
  billing = await openBilling(SETTINGS, {
    ...openCredits({ store, clock, bounds: topUpHook, onFall: topUpHook.onFall }),
    store,
    clock,
    cursors: cursors(Buffer.alloc(32, 7)),
    trail: { events, audit },
    events,
    jobs: new Jobs({ store, clock, timers: systemTimers, random: () => 0.5, holder: "test", onFailure }),
    accounts: new AccountTables(store),
    tickets: new Tickets(store, USUAL_QUOTAS),
    topUpHook,
    mail: { toOrg: { put: () => [], putOnce: () => {} }, putAsked() {}, attachesInvoices() {} },
    simulatedPayments: {
      async reach() {
        service.reached++;
        return { url: "http://127.0.0.1:9", key: "k", webhookSecret: "s" };
      },
      isUsed: () => service.isUsed,
      onChange(changed) {
        service.changed = changed;
      },
    },
    simulatedPortal: async () => undefined,
    seenEverywhere: async () => {},
    markups: () => [0, 250, 400],
    log: pino({ level: "silent" }),
  });
});

afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test("webhooks of the simulated service are taken once it is used, and it is not started for them", () => {
  billing.payments.start();
  service.changed();
  expect(service.reached).toBe(0);
  service.isUsed = true;
  service.changed();
  expect(service.reached).toBe(1);
});

test("the pricing document has the markups that the port tells, and the fee for own keys of the settings", async () => {
  const input = { params: undefined, query: undefined, body: undefined };
  const { getPricing } = billing.operations;
  expect(await getPricing?.run(input as never, {} as never, {} as never)).toMatchObject({
    markup: { frontier_bps: 0, open_weight_min_bps: 250, open_weight_max_bps: 400 },
    own_keys: { fee_bps: 500, fee_micro_per_request: 20 },
  });
});

test("an erasure ends mandates before all else, and then goes over every row of money", () => {
  expect([billing.endingOfMandates, ...billing.erasure].map(({ name }) => name)).toEqual([
    "mandates at payment gateways",
    "events of payments",
    "mandates",
    "top-ups",
    "refunds",
    "changes of plans",
  ]);
});

test("a stop waits for documents that are drawn, under their name", async () => {
  const parts: string[] = [];
  await billing.close(async (part, ended) => {
    parts.push(part);
    await ended;
  });
  expect(parts).toEqual(["invoices"]);
});
