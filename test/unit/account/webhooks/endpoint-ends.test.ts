/** How endpoints are disabled and deleted, and what becomes of the deliveries that wait. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { answering, type Receiver } from "../../../support/webhooks/receiver.ts";
import { callerOf, DAY, HOUR, MINUTE, openRig, type Rig, SECOND } from "./fixtures.ts";

let rig: Rig;
let receiver: Receiver;
let id: string;
beforeEach(async () => {
  rig = await openRig();
  receiver = await rig.receiver();
  ({ id } = await rig.create(receiver.url));
});
afterEach(async () => {
  await rig.dispose();
  expect(rig.failures).toEqual([]);
});

const endpoint = () => rig.call("getWebhook", { id });
const statuses = () => rig.deliveries(id).map(({ status }) => status);
const eventsOf = (type: string) => [...rig.events.of("org_a")].filter((event) => event.type === type);

/** An event each `everyMs`, for so long. */
async function eventsFor(ms: number, everyMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += everyMs) {
    await rig.emit();
    await rig.settle();
    // No longer than half an hour: each delivery has its tries at their time.
    for (let stepMs = 0; stepMs < everyMs; stepMs += 30 * MINUTE) await rig.pass(30 * MINUTE);
  }
}

describe("410", () => {
  test("disables the endpoint at once; the org is told by event and audit, the endpoint is not", async () => {
    receiver.answer = answering(410);
    await rig.emit();
    await rig.settle();
    expect(await endpoint()).toMatchObject({ status: "disabled", disabled_reason: "gone" });
    expect(rig.deliveries(id)).toMatchObject([
      { status: "failed", attempt: 1, httpStatus: 410, error: "HTTP 410." },
    ]);
    expect(eventsOf("webhook.disabled")).toMatchObject([{ data: { id, disabled_reason: "gone" } }]);
    const [note] = rig.audit.of("org_a");
    expect(note).toMatchObject({ act: "webhook.disable", target: id, actor: { kind: "system" } });
    expect(receiver.received).toHaveLength(1);
  });

  test("another endpoint of the org hears of it", async () => {
    receiver.answer = answering(410);
    const witness = await rig.receiver();
    await rig.create(witness.url, { events: ["webhook.disabled"] });
    await rig.emit();
    await rig.settle();
    expect(witness.received.map(({ body }) => JSON.parse(body).data.id)).toEqual([id]);
  });
});

describe("five days of nothing but failures", () => {
  test("disable the endpoint, with an event that is not delivered to it", async () => {
    receiver.answer = answering(500);
    await eventsFor(4 * DAY + 20 * HOUR, 4 * HOUR);
    expect((await endpoint()).status).toBe("active");
    await eventsFor(8 * HOUR, 4 * HOUR);
    expect(await endpoint()).toMatchObject({ status: "disabled", disabled_reason: "failing" });
    expect(eventsOf("webhook.disabled")).toHaveLength(1);
    expect(rig.deliveries(id).map(({ type }) => type)).not.toContain("webhook.disabled");
    expect(statuses()).not.toContain("pending");
    const before = receiver.received.length;
    await rig.emit();
    await rig.pass(DAY);
    expect(receiver.received).toHaveLength(before);
  });

  test("one success among them keeps it", async () => {
    receiver.answer = answering(500);
    await eventsFor(3 * DAY, 6 * HOUR);
    receiver.answer = answering(204);
    await eventsFor(6 * HOUR, 6 * HOUR);
    receiver.answer = answering(500);
    await eventsFor(4 * DAY, 6 * HOUR);
    expect((await endpoint()).status).toBe("active");
  });

  test("failures with days without any try between them do not count together", async () => {
    receiver.answer = answering(500);
    await eventsFor(30 * MINUTE, 30 * MINUTE);
    await rig.pass(DAY);
    await rig.pass(10 * DAY);
    await eventsFor(30 * MINUTE, 30 * MINUTE);
    expect((await endpoint()).status).toBe("active");
  });

  test("enabled again, it is sent events again, and has five days anew", async () => {
    receiver.answer = answering(500);
    await eventsFor(5 * DAY + 4 * HOUR, 4 * HOUR);
    expect((await endpoint()).status).toBe("disabled");
    const enabled = await rig.call("updateWebhook", { id, body: { status: "active" } });
    expect(enabled.status).toBe("active");
    expect(enabled).not.toHaveProperty("disabled_reason");
    await eventsFor(4 * HOUR, 4 * HOUR);
    expect((await endpoint()).status).toBe("active");
    receiver.answer = answering(204);
    await rig.emit("last");
    await rig.pass(6 * MINUTE);
    expect(statuses().at(-1)).toBe("delivered");
  });
});

describe("deliveries that wait", () => {
  const WAITING = 450;

  async function pileUp(): Promise<void> {
    receiver.answer = answering(500);
    await rig.store.act(() => {
      for (let n = 0; n < WAITING; n++) rig.putEvent(`n${n}`);
    });
    await rig.settle();
    expect(rig.webhooks.tables.state(id).waiting).toBe(WAITING);
  }

  test("fail without a call when the endpoint is disabled", async () => {
    await pileUp();
    const before = receiver.received.length;
    await rig.call("updateWebhook", { id, body: { status: "disabled" } });
    await rig.settle();
    expect(statuses()).toEqual(Array(WAITING).fill("failed"));
    expect(rig.deliveries(id).at(-1)?.error).toContain("The webhook was disabled.");
    expect((await endpoint()).disabled_reason).toBe("manual");
    expect(eventsOf("webhook.disabled")).toEqual([]);
    await rig.pass(2 * DAY);
    expect(receiver.received).toHaveLength(before);
    expect(rig.jobs.metrics()).toMatchObject({ running: 0, lanes: 0, givenUp: 0 });
    expect(rig.webhooks.counts.ended).toEqual({ delivered: 0, failed: WAITING });
  });

  test("are gone without a call when the endpoint is deleted, with all that was kept of it", async () => {
    await pileUp();
    const before = receiver.received.length;
    await rig.call("deleteWebhook", { id });
    await rig.settle();
    await expect(rig.call("getWebhook", { id })).rejects.toMatchObject({ kind: "not_found" });
    await rig.pass(2 * DAY);
    expect(receiver.received).toHaveLength(before);
    expect(rig.jobs.metrics()).toMatchObject({ running: 0, lanes: 0, givenUp: 0 });
    const tables = ["endpoints", "deliveries", "pending", "states"].map((name) => `webhooks.${name}`);
    expect(tables.map((name) => [...rig.store.table(name).range()].length)).toEqual([0, 0, 0, 0]);
  });

  test("one that is being made when its endpoint is deleted leaves nothing behind", async () => {
    let end = () => {};
    receiver.answer = (response) => {
      end = () => void response.writeHead(204).end();
    };
    await rig.emit();
    await rig.until("it was called", () => receiver.received.length === 1);
    await rig.call("deleteWebhook", { id });
    await rig.until("nothing is kept of it", () => rig.deliveries(id).length === 0);
    end();
    await rig.settle();
    const tables = ["endpoints", "deliveries", "pending", "states"].map((name) => `webhooks.${name}`);
    expect(tables.map((name) => [...rig.store.table(name).range()].length)).toEqual([0, 0, 0, 0]);
  });

  test("one that is being made when its endpoint is disabled is not tried again", async () => {
    let end = () => {};
    receiver.answer = (response) => {
      end = () => void response.writeHead(500).end();
    };
    await rig.emit();
    await rig.until("it was called", () => receiver.received.length === 1);
    await rig.call("updateWebhook", { id, body: { status: "disabled" } });
    const cleared = () => rig.jobs.metrics().byKind.get("webhooks.clear")?.done === 1;
    await rig.until("what else waits was ended", cleared);
    end();
    await rig.settle();
    expect(rig.deliveries(id)).toMatchObject([{ status: "failed", attempt: 1, httpStatus: 500 }]);
    await rig.pass(DAY);
    expect(receiver.received).toHaveLength(1);
  });
});

test("an org that is erased loses its endpoints and their deliveries, in parts, without a job of its own", async () => {
  await rig.emit();
  await rig.emit();
  await rig.settle();
  const other = await rig.create(receiver.url, {}, callerOf("org_b"));
  await rig.emit("b", "org_b");
  await rig.settle();
  const parts = () => rig.store.act(() => rig.webhooks.erase("org_a", 1));
  expect([await parts(), await parts()]).toEqual([true, false]);
  expect((await rig.call<{ data: unknown[] }>("listWebhooks")).data).toEqual([]);
  expect([rig.deliveries(id), rig.deliveries(other.id).length]).toEqual([[], 1]);
});

test("deliveries of an endpoint that was deleted go with the org, though the job that clears them never runs", async () => {
  await rig.emit();
  await rig.settle();
  await rig.jobs.stop();
  await rig.call("deleteWebhook", { id });
  expect(rig.deliveries(id)).toHaveLength(1);
  await rig.store.act(() => rig.webhooks.erase("org_a", 100));
  await rig.store.act(() => rig.jobs.erase("org_a", 100));
  expect(rig.deliveries(id)).toEqual([]);
});

test("of more than the most that may wait, the oldest fail and say why", async () => {
  const small = await openRig({ mostWaiting: 30 });
  try {
    const dead = await small.receiver();
    dead.answer = answering(500);
    const { id: deadId } = await small.create(dead.url);
    for (let n = 0; n < 100; n++) await small.emit(`n${n}`);
    await small.settle();
    const rows = small.deliveries(deadId);
    expect(rows).toHaveLength(100);
    expect(
      rows.slice(0, 70).every(({ status, error }) => status === "failed" && /Too many/.test(error)),
    ).toBe(true);
    expect(rows.slice(70).every(({ status }) => status === "pending")).toBe(true);
    expect(small.webhooks.tables.state(deadId).waiting).toBe(30);
    dead.answer = answering(204);
    await small.pass(10 * SECOND);
    await small.pass(10 * MINUTE);
    await small.pass(10 * MINUTE);
    expect(
      small
        .deliveries(deadId)
        .slice(70)
        .map(({ status }) => status),
    ).toEqual(Array(30).fill("delivered"));
    expect(small.webhooks.tables.state(deadId).waiting).toBe(0);
  } finally {
    await small.dispose();
  }
});
