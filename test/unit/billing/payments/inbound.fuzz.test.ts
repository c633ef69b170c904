/**
 * Anything at the hook of webhooks, for each payment service: bytes of chance, deep and large JSON, true signatures over garbage,
 * and events with a wrong value in each field. It is taken or refused by an error of the table, soon, and what is refused writes
 * nothing. What is taken is an event and a job that names an object, and nothing else.
 */
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { timedSignature } from "../../../../simulator/payments/notices.ts";
import { systemRandom, systemTimers } from "../../../../src/base/clock.ts";
import { WeirError } from "../../../../src/base/errors.ts";
import type { PaymentGateway } from "../../../../src/billing/payments/gateway.ts";
import { type Inbound, openInbound, readNotice } from "../../../../src/billing/payments/inbound.ts";
import { RazorpayGateway } from "../../../../src/billing/payments/razorpay/gateway.ts";
import { SimulatedGateway } from "../../../../src/billing/payments/simulated/gateway.ts";
import { StripeGateway } from "../../../../src/billing/payments/stripe/gateway.ts";
import type { JobRow } from "../../../../src/store/jobs/job.ts";
import { JobTables } from "../../../../src/store/jobs/job-tables.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { amount } from "../../../support/effort.ts";
import { testClock } from "./fixtures.ts";

const SECRET = "whsec_fuzz";
/** Runs for each service: 100,000 for all together, and 2,000 in `npm test`. */
const RUNS = amount(33_334, 667);
/** Time for one webhook, on a busy machine; a quadratic reading of the largest body takes minutes. */
const MOST_MS = 2_000;
const LARGEST = 256 * 1024;

const folder = mkdtempSync(join(tmpdir(), "weir-inbound-fuzz-"));
const clock = testClock();
let store: Store;
let inbound: Inbound;
let jobTables: JobTables;

beforeAll(async () => {
  store = openStore(folder);
  const onFailure = (error: unknown): never => {
    throw error;
  };
  const jobs = new Jobs({
    store,
    clock,
    timers: systemTimers,
    random: systemRandom,
    holder: "test",
    onFailure,
  });
  jobTables = new JobTables(store);
  const common = { clock, apiBase: "http://127.0.0.1:9", webhookSecrets: [SECRET] };
  const service = { url: "http://127.0.0.1:9", key: "key", webhookSecret: SECRET };
  const simulated = new SimulatedGateway({ service: async () => service });
  await simulated.reach();
  const gateways = new Map<string, PaymentGateway>([
    ["stripe", new StripeGateway({ ...common, secretKey: "sk" })],
    ["razorpay", new RazorpayGateway({ ...common, keyId: "id", keySecret: "secret" })],
    ["simulated", simulated],
  ]);
  inbound = openInbound({
    store,
    clock,
    jobs,
    gatewayOf: (id: string) => gateways.get(id),
    onFailure,
    isErased: () => false,
  });
});
afterAll(async () => {
  inbound.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: "binary", maxLength: 600 }),
  fc.constantFrom("", "\0", "a\0b", "\ud800", "~", "pay_1", "x".repeat(501), "é".repeat(500), "..", "/"),
);
const wrong = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, undefined, true, 0, -1, 1e308, [], {}, [[]], { __proto__: null, toString: 1 }),
);

/** Good events with names of fields that are read; one or two of them are given another value. */
const GOOD: Readonly<Record<string, readonly object[]>> = {
  stripe: [
    "payment_intent.succeeded",
    "checkout.session.completed",
    "refund.updated",
    "charge.dispute.created",
  ].map((type) => ({
    id: "evt_1",
    type,
    data: {
      object: { id: "pi_1", mode: "payment", client_reference_id: "tup_1", metadata: { reference: "tup_1" } },
    },
  })),
  razorpay: ["payment", "payment_link", "refund", "dispute", "invoice"].map((of) => ({
    event: of === "dispute" ? "payment.dispute.lost" : `${of}.changed`,
    payload: {
      [of]: { entity: { id: "pay_1", reference_id: "tup_1", receipt: "r", notes: { reference: "tup_1" } } },
    },
  })),
  simulated: ["payment", "checkout", "refund", "dispute", "mandate"].map((kind) => ({
    id: "sev_1",
    kind,
    ref: "spy_1",
    reference: "tup_1",
  })),
};

/** Paths of all fields of a value, inner ones too. */
const pathsOf = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [[...path, name], ...pathsOf(inner, [...path, name])])
    : [];

function withWrong(event: object, path: readonly string[], value: unknown): object {
  const [name = "", ...rest] = path;
  const inner = (event as Record<string, unknown>)[name];
  if (rest.length === 0) return { ...event, [name]: value };
  return {
    ...event,
    [name]: typeof inner === "object" && inner !== null ? withWrong(inner, rest, value) : value,
  };
}

const deep = fc
  .tuple(
    fc.constantFrom("[", '{"a":', '{"data":{"object":', '[{"payload":'),
    fc.integer({ min: 1, max: 40_000 }),
  )
  .map(([open, times]) => open.repeat(times).slice(0, LARGEST));

const eventsOf = (service: string): fc.Arbitrary<string> => {
  const good = GOOD[service] as readonly object[];
  const changed = fc
    .constantFrom(...good)
    .chain((event) =>
      fc
        .array(fc.tuple(fc.constantFrom(...pathsOf(event)), wrong), { minLength: 1, maxLength: 2 })
        .map((changes) => changes.reduce((now, [path, value]) => withWrong(now, path, value), event)),
    );
  // Most have an id of their own, for what comes again does nothing.
  return fc
    .tuple(changed, fc.integer({ min: 0, max: 1e9 }))
    .map(([event, n]) => JSON.stringify(event).replace(/"id":"(evt|sev)_1"/, `"id":"$1_${n}"`));
};

/** Nested to the depth that fits, and closed, so that it is JSON. */
const closed = fc.integer({ min: 1, max: 60_000 }).map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`);
const nestedEvent = closed.map((nested) =>
  JSON.stringify({ id: "e", type: "t", data: 0 }).replace("0", nested),
);

const webhook = (service: string) =>
  fc.record({
    bytes: fc.oneof(
      { weight: 2, arbitrary: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)) },
      { weight: 1, arbitrary: fc.oneof(deep, closed, nestedEvent).map((body) => Buffer.from(body)) },
      { weight: 2, arbitrary: fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))) },
      { weight: 12, arbitrary: eventsOf(service).map((body) => Buffer.from(body)) },
    ),
    signed: fc.oneof(
      { weight: 6, arbitrary: fc.constant("well") },
      { weight: 1, arbitrary: fc.constantFrom("by another", "long ago", "over other bytes") },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 3_000 }) },
    ),
    eventId: fc.option(text, { nil: undefined }),
  });

function headersOf(service: string, bytes: Buffer, signed: string, eventId: string): Record<string, string> {
  const known = ["well", "by another", "long ago", "over other bytes"];
  const secret = signed === "by another" ? "whsec_other" : SECRET;
  const over = signed === "over other bytes" ? Buffer.concat([bytes, Buffer.from(" ")]) : bytes;
  const at = clock.now() - (signed === "long ago" ? 301_000 : 0);
  const seconds = Math.floor(at / 1000);
  const digest = (prefix: string) => createHmac("sha256", secret).update(prefix).update(over).digest("hex");
  const timed = known.includes(signed) ? `t=${seconds},v1=${digest(`${seconds}.`)}` : signed;
  if (service === "stripe") return { "stripe-signature": timed };
  if (service === "simulated") return { "weir-payments-signature": timed };
  // Nothing but the id says that an event is old.
  const plain = known.includes(signed) ? digest("") : signed;
  return { "x-razorpay-signature": plain, "x-razorpay-event-id": eventId };
}

const count = (): [number, number] => [
  Array.from(store.table("payments.events").range()).length,
  jobRows().length,
];
const jobRows = (): JobRow[] => [...jobTables.after()];

describe.each(["stripe", "razorpay", "simulated"])("a webhook of %s", (service) => {
  let n = 0;
  test("is taken, or refused by name, whatever it holds", async () => {
    let before = count();
    let taken = 0;
    const property = fc.asyncProperty(webhook(service), async ({ bytes, signed, eventId }) => {
      const headers = headersOf(service, bytes, signed, eventId ?? `evt_${++n}`);
      const head = {
        header: (name: string) => headers[name] ?? "",
        cookie: () => undefined,
        address: "127.0.0.1",
      };
      const used = process.threadCpuUsage();
      const refusal = await Promise.resolve(
        inbound.hook.run(bytes, { gateway: service }, head, "request"),
      ).then(
        () => undefined,
        (error: unknown) => error,
      );
      const { user, system } = process.threadCpuUsage(used);
      expect((user + system) / 1000).toBeLessThan(MOST_MS);
      if (refusal !== undefined) {
        expect(refusal).toBeInstanceOf(WeirError);
        expect((refusal as WeirError).status).toBe(400);
      }
      const isGood = signed === "well" || (service === "razorpay" && signed === "long ago");
      if (refusal === undefined) expect(isGood).toBe(true);
      const after = count();
      const added = [after[0] - before[0], after[1] - before[1]];
      // What is taken may be known, or of no interest.
      expect(
        refusal === undefined
          ? [
              [0, 0],
              [1, 1],
            ]
          : [[0, 0]],
      ).toContainEqual(added);
      taken += added[0] as number;
      before = after;
      if (after[0] > 50) before = await forget();
    });
    await fc.assert(property, { seed: 1414, numRuns: RUNS });
    expect(taken).toBeGreaterThan(RUNS / 20);
  }, 1_800_000);
});

/** So that counting stays quick. Each job names an object as the kind's schema has it. */
async function forget(): Promise<[number, number]> {
  for (const job of jobRows()) {
    expect(job.kind).toBe(readNotice.name);
    const { ref, reference, gatewayId } = readNotice.payload.parse(job.payload);
    expect([job.orgId, ref !== "", typeof reference, job.lane]).toEqual([
      "",
      true,
      "string",
      `${gatewayId}:${ref}`,
    ]);
  }
  const events = store.table("payments.events");
  await store.act(() => {
    for (const { key } of [...events.range()]) events.remove(key);
    for (const job of jobRows()) jobTables.remove(job);
  });
  return count();
}

test("a good webhook of each service is taken, so the others are refused for what is wrong with them", async () => {
  for (const [service, events] of Object.entries(GOOD)) {
    const bytes = Buffer.from(JSON.stringify(events[0]).replace(/"(evt|sev)_1"/, '"good"'));
    const headers = headersOf(service, bytes, "well", "good");
    if (service === "stripe")
      expect(headers["stripe-signature"]).toBe(timedSignature(bytes.toString(), SECRET, clock.now()));
    const head = { header: (name: string) => headers[name] ?? "", cookie: () => undefined, address: "" };
    const [before] = count();
    await inbound.hook.run(bytes, { gateway: service }, head, "request");
    expect([service, count()[0]]).toEqual([service, before + 1]);
  }
});
