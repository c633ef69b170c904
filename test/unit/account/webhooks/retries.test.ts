/** When a delivery that failed is tried again, in virtual time. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DeliveryRow } from "../../../../src/account/webhooks/delivery.ts";
import { answering, fault, type Receiver } from "../../../support/webhooks/receiver.ts";
import { DAY, HOUR, MINUTE, openRig, type Rig, SECOND } from "./fixtures.ts";

let rig: Rig;
let receiver: Receiver;
let id: string;
let secret: string;
beforeEach(async () => {
  rig = await openRig();
  receiver = await rig.receiver();
  receiver.answer = answering(500);
  ({ id, secret } = await rig.create(receiver.url));
});
afterEach(async () => {
  await rig.dispose();
  expect(rig.failures).toEqual([]);
});

const only = (): DeliveryRow => rig.deliveries(id)[0] as DeliveryRow;

/** Until it has ended. @returns the waits between looks at it */
async function toTheEnd(): Promise<number[]> {
  const waits: number[] = [];
  while (only().status === "pending") waits.push(await rig.passToNext(only()));
  return waits;
}

test("a delivery that fails is tried for 24 hours, 5 seconds to 6 hours apart, and then has failed", async () => {
  await rig.emit();
  await rig.settle();
  const waits = await toTheEnd();
  expect(waits[0]).toBeGreaterThanOrEqual(5 * SECOND);
  // The last one is cut short by the end of the time.
  expect(Math.min(...waits.slice(0, -1))).toBeGreaterThanOrEqual(5 * SECOND);
  expect(Math.max(...waits)).toBeLessThanOrEqual(6 * HOUR);
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(DAY);
  expect(only()).toMatchObject({ status: "failed", httpStatus: 500, nextAtMs: 0, error: "HTTP 500." });
  expect(only().attempt).toBe(receiver.received.length);
  expect(receiver.received.length).toBeGreaterThanOrEqual(15);
  await rig.pass(2 * DAY);
  expect(only().attempt).toBe(receiver.received.length);
  expect([rig.jobs.metrics().lanes, rig.jobs.metrics().givenUp]).toEqual([0, 0]);
});

test("the webhook-id stays the same over all tries; time and signature are new", async () => {
  receiver.answer = answering(503);
  const eventId = await rig.emit();
  await rig.settle();
  for (let attempt = 2; attempt <= 4; attempt++) await rig.passToNext(only());
  const heads = receiver.received.map(({ headers }) => headers);
  expect(heads.map((h) => h["webhook-id"])).toEqual(Array(4).fill(eventId));
  expect(new Set(heads.map((h) => h["webhook-timestamp"])).size).toBe(4);
  expect(receiver.received.map((one) => fault(one, secret))).toEqual(["", "", "", ""]);
});

test("a receiver that answers again gets what failed before", async () => {
  await rig.emit();
  await rig.settle();
  await rig.passToNext(only());
  receiver.answer = answering(200);
  await rig.passToNext(only());
  expect(only()).toMatchObject({ status: "delivered", attempt: 3, httpStatus: 200, error: "" });
});

describe("what fails", () => {
  test("a receiver that refuses connections", async () => {
    await receiver.close();
    await rig.emit();
    await rig.settle();
    expect(only()).toMatchObject({ status: "pending", attempt: 1, httpStatus: 0 });
    expect(only().error).toContain("ECONNREFUSED");
  });

  test("a receiver that does not answer within 10 seconds", async () => {
    receiver.answer = () => {};
    await rig.emit();
    await rig.until("it was called", () => receiver.received.length === 1);
    await rig.pass(10 * SECOND);
    expect(only()).toMatchObject({ status: "pending", attempt: 1, httpStatus: 0 });
    expect(only().error).toContain("no complete answer in time");
  });

  test("an address that is not allowed: nothing is sent", async () => {
    const other = await rig.receiver("127.0.0.2");
    const row = rig.webhooks.tables.endpoint("org_a", id);
    if (row === undefined) throw new Error("no such endpoint");
    // As when the rules change after it was saved.
    await rig.store.act(() => rig.webhooks.tables.putEndpoint({ ...row, url: other.url }));
    await rig.emit();
    await rig.settle();
    expect(only()).toMatchObject({ status: "pending", attempt: 1 });
    expect(only().error).toMatch(/not allowed/);
    expect(other.received).toEqual([]);
  });
});

describe("Retry-After", () => {
  test("is obeyed where it asks for more than the usual wait", async () => {
    receiver.answer = answering(429, { "retry-after": "600" });
    await rig.emit();
    await rig.settle();
    const first = rig.time.now();
    expect(only().nextAtMs).toBe(first + 10 * MINUTE);
    await rig.pass(10 * MINUTE - SECOND);
    expect(receiver.received).toHaveLength(1);
    await rig.pass(SECOND);
    expect(receiver.received).toHaveLength(2);
  });

  test("shorter than the usual wait changes nothing", async () => {
    receiver.answer = answering(503, { "retry-after": "1" });
    await rig.emit();
    await rig.settle();
    expect(only().nextAtMs - rig.time.now()).toBeGreaterThanOrEqual(5 * SECOND);
  });

  test("as a date, and beyond the 24 hours: the last try is made at their end", async () => {
    const date = new Date(rig.time.now() + 3 * DAY).toUTCString();
    receiver.answer = answering(503, { "retry-after": date });
    const createdMs = rig.time.now();
    await rig.emit();
    await rig.settle();
    expect(only().nextAtMs).toBe(createdMs + DAY);
    await rig.passToNext(only());
    expect(only()).toMatchObject({ status: "failed", attempt: 2 });
  });

  test("holds back the endpoint's other deliveries too, for an hour at most", async () => {
    receiver.answer = answering(429, { "retry-after": "7200" });
    await rig.emit("first");
    await rig.settle();
    receiver.answer = answering(204);
    await rig.emit("second");
    await rig.pass(59 * MINUTE);
    expect(receiver.received).toHaveLength(1);
    await rig.pass(2 * MINUTE);
    expect(rig.deliveries(id).map(({ status }) => status)).toEqual(["pending", "delivered"]);
  });
});

test("what waits when the process stops for two days is tried once more, then has failed", async () => {
  await rig.emit();
  await rig.settle();
  const before = receiver.received.length;
  await rig.pass(2 * DAY);
  expect(receiver.received).toHaveLength(before + 1);
  expect(only().status).toBe("failed");
});
