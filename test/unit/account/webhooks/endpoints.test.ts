/** Endpoints as the API shows and changes them; their secrets; tests and repetitions of deliveries. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DeliveryRow } from "../../../../src/account/webhooks/delivery.ts";
import { answering, fault, type Received, type Receiver } from "../../../support/webhooks/receiver.ts";
import { callerOf, DAY, HOUR, MINUTE, openRig, type Page, type Rig } from "./fixtures.ts";

let rig: Rig;
let receiver: Receiver;
beforeEach(async () => {
  rig = await openRig();
  receiver = await rig.receiver();
});
afterEach(async () => {
  await rig.dispose();
  expect(rig.failures).toEqual([]);
});

const list = async (orgId = "org_a") => (await rig.call<Page>("listWebhooks", { by: callerOf(orgId) })).data;
const last = () => receiver.received.at(-1) as Received;
const refusal = (act: Promise<unknown>) =>
  act.then(
    () => "done",
    (error) => `${error.kind} ${error.param ?? ""}`.trim(),
  );

describe("an endpoint", () => {
  test("is created with a secret that no later answer shows", async () => {
    const made = await rig.create(receiver.url, {
      description: "Ours",
      events: ["key.created", "key.created"],
    });
    const { secret, ...rest } = made;
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(rest).toEqual({
      id: expect.stringMatching(/^whk_[0-9A-HJKMNP-TV-Z]{26}$/),
      org_id: "org_a",
      url: receiver.url,
      events: ["key.created"],
      description: "Ours",
      status: "active",
      created_at: new Date(rig.time.now()).toISOString(),
    });
    expect(await rig.call("getWebhook", { id: made.id })).toEqual({ ...rest, waiting: 0 });
    expect(await list()).toEqual([{ ...rest, waiting: 0 }]);
  });

  test("says what waits, since when it fails, and when it last took something", async () => {
    receiver.answer = answering(500);
    const { id } = await rig.create(receiver.url);
    const state = async () => {
      const { waiting, failing_since, last_delivered_at } = await rig.call("getWebhook", { id });
      return { waiting, failing_since, last_delivered_at };
    };
    const failedAt = new Date(rig.time.now()).toISOString();
    await rig.emit();
    await rig.settle();
    expect(await state()).toEqual({ waiting: 1, failing_since: failedAt, last_delivered_at: undefined });
    receiver.answer = answering(204);
    const [waiting] = rig.deliveries(id);
    await rig.passToNext(waiting as DeliveryRow);
    const takenAt = new Date(rig.deliveries(id)[0]?.triedAtMs ?? 0).toISOString();
    expect(takenAt > failedAt).toBe(true);
    expect(await state()).toEqual({ waiting: 0, failing_since: undefined, last_delivered_at: takenAt });
    // A failure later takes nothing of it back.
    receiver.answer = answering(500);
    await rig.emit();
    await rig.settle();
    expect(await state()).toMatchObject({ waiting: 1, last_delivered_at: takenAt });
  });

  test("is changed field by field, and every change is a row of the audit without the secret", async () => {
    const { id, secret } = await rig.create(receiver.url);
    const body = { url: `${receiver.url}2`, events: ["org.updated"], description: "new" };
    expect(await rig.call("updateWebhook", { id, body })).toMatchObject(body);
    expect(await rig.call("updateWebhook", { id, body: { events: [] } })).toMatchObject({
      ...body,
      events: [],
    });
    const { secret: young } = await rig.call("rotateWebhook", { id });
    await rig.call("testWebhook", { id });
    await rig.call("deleteWebhook", { id });
    const notes = [...rig.audit.of("org_a")].reverse();
    const acts = ["create", "update", "update", "rotate", "test", "delete"];
    expect(notes.map(({ act }) => act)).toEqual(acts.map((act) => `webhook.${act}`));
    expect(notes.every(({ target }) => target === id)).toBe(true);
    expect(notes[1]?.changes.map(({ field }) => field)).toEqual(["url", "events", "description"]);
    expect(JSON.stringify(notes)).not.toContain("whsec");
    expect([secret, young].every((text) => !JSON.stringify(notes).includes(text.slice(6, 30)))).toBe(true);
  });

  test("of another org is not there", async () => {
    const { id } = await rig.create(receiver.url);
    const by = callerOf("org_b");
    for (const name of ["getWebhook", "updateWebhook", "deleteWebhook", "rotateWebhook", "testWebhook"]) {
      expect([name, await refusal(rig.call(name, { id, by }))]).toEqual([name, "not_found"]);
    }
    expect(await list("org_b")).toEqual([]);
  });

  test("may be changed by no key of the test environment", async () => {
    const by = callerOf("org_a", "test");
    expect(await refusal(rig.create(receiver.url, {}, by))).toBe("scope");
    const { id } = await rig.create(receiver.url);
    for (const name of ["updateWebhook", "deleteWebhook", "rotateWebhook", "testWebhook"])
      expect([name, await refusal(rig.call(name, { id, by }))]).toEqual([name, "scope"]);
  });

  test.each([
    ["http://example.com/hook", "invalid_value /url"],
    ["https://169.254.169.254/latest", "invalid_value /url"],
    ["https://10.0.0.1/", "invalid_value /url"],
    ["http://127.0.0.2/", "invalid_value /url"],
    ["https://user:word@example.com/", "invalid_value /url"],
    ["ftp://example.com/", "invalid_value /url"],
    ["no url", "invalid_value /url"],
    ["https://example.com/hook", "done"],
  ])("with the URL %s: %s", async (url, expected) => {
    expect(await refusal(rig.create(url))).toBe(expected);
    const { id } = await rig.create(receiver.url);
    expect(await refusal(rig.call("updateWebhook", { id, body: { url } }))).toBe(expected);
  });

  test.each([
    [{ url: `https://example.com/${"a".repeat(2048)}` }],
    [{ events: ["key.invented"] }],
    [{ events: ["webhook.test"] }],
    [{ description: "x".repeat(501) }],
    [{ secret: "whsec_mine" }],
  ])("is not created with %j", async (body) => {
    await expect(rig.create(receiver.url, body)).rejects.toThrow();
    expect(await list()).toEqual([]);
  });

  test("S7: is one of 50 at most", async () => {
    const made = await Promise.all(Array.from({ length: 52 }, () => refusal(rig.create(receiver.url))));
    expect(made.filter((text) => text === "done")).toHaveLength(50);
    expect(made.slice(50)).toEqual(["plan_limit", "plan_limit"]);
    const all = await list();
    expect(all).toHaveLength(50);
    await rig.call("deleteWebhook", { id: all[7]?.id as string });
    expect(await refusal(rig.create(receiver.url))).toBe("done");
  });
});

describe("secrets", () => {
  test("are nowhere in the data folder", async () => {
    const { id, secret } = await rig.create(receiver.url);
    await rig.emit();
    await rig.settle();
    const { secret: young } = await rig.call("rotateWebhook", { id });
    await rig.store.caughtUp();
    for (const text of [secret, young]) {
      const needles = [Buffer.from(text), Buffer.from(text.slice(6)), Buffer.from(text.slice(6), "base64")];
      for (const file of readdirSync(rig.folder, { recursive: true, withFileTypes: true })) {
        if (!file.isFile()) continue;
        const bytes = readFileSync(join(file.parentPath, file.name));
        expect([file.name, needles.some((needle) => bytes.includes(needle))]).toEqual([file.name, false]);
      }
    }
  });

  test("rotated: old and new one sign for 24 hours, then the new one alone", async () => {
    const { id, secret: old } = await rig.create(receiver.url);
    const rotated = await rig.call("rotateWebhook", { id });
    expect(rotated.secret).not.toBe(old);
    const until = new Date(rig.time.now() + DAY).toISOString();
    expect(rotated).toMatchObject({ id, previous_secret_until: until });
    await rig.emit();
    await rig.settle();
    expect(last().headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    expect([fault(last(), old), fault(last(), rotated.secret)]).toEqual(["", ""]);
    await rig.pass(DAY);
    await rig.emit();
    await rig.settle();
    expect(last().headers["webhook-signature"]?.split(" ")).toHaveLength(1);
    expect(await rig.call("getWebhook", { id })).not.toHaveProperty("previous_secret_until");
  });

  test("rotated twice: two sign, the newest ones", async () => {
    const { id, secret: first } = await rig.create(receiver.url);
    const { secret: second } = await rig.call("rotateWebhook", { id });
    const { secret: third } = await rig.call("rotateWebhook", { id });
    await rig.emit();
    await rig.settle();
    expect([first, second, third].map((secret) => fault(last(), secret) === "")).toEqual([false, true, true]);
  });

  test("that cannot be opened fail the delivery, visibly, until they are rotated", async () => {
    const { id } = await rig.create(receiver.url);
    const { tables } = rig.webhooks;
    const row = tables.endpoint("org_a", id);
    if (row === undefined) throw new Error("no such endpoint");
    await rig.store.act(() =>
      tables.putEndpoint({ ...row, secrets: [{ sealed: Buffer.alloc(90), untilMs: null }] }),
    );
    await rig.emit();
    await rig.settle();
    expect(rig.deliveries(id)[0]?.error).toContain("rotate it");
    const { secret } = await rig.call("rotateWebhook", { id });
    await rig.pass(MINUTE);
    expect(fault(last(), secret)).toBe("");
  });
});

describe("a test", () => {
  test("sends an event of the type webhook.test to this endpoint only, whatever types it chose", async () => {
    const other = await rig.receiver();
    await rig.create(other.url);
    const { id, secret } = await rig.create(receiver.url, { events: ["key.created"] });
    const delivery = await rig.call("testWebhook", { id });
    expect(delivery).toMatchObject({ type: "webhook.test", status: "pending", attempt: 0 });
    await rig.settle();
    expect(fault(last(), secret)).toBe("");
    expect(JSON.parse(last().body)).toMatchObject({ type: "webhook.test", data: { id, url: receiver.url } });
    expect(other.received).toEqual([]);
    expect(rig.deliveries(id)).toMatchObject([{ id: delivery.id, status: "delivered" }]);
  });

  test("that fails is not tried again", async () => {
    receiver.answer = answering(500);
    const { id } = await rig.create(receiver.url);
    await rig.call("testWebhook", { id });
    await rig.settle();
    await rig.pass(DAY);
    expect(rig.deliveries(id)).toMatchObject([{ status: "failed", attempt: 1 }]);
    expect(receiver.received).toHaveLength(1);
  });

  test("is sent at once to an endpoint that rests after failures", async () => {
    receiver.answer = answering(500);
    const { id } = await rig.create(receiver.url);
    for (let n = 0; n < 8; n++) await rig.emit();
    await rig.settle();
    receiver.answer = answering(204);
    await rig.call("testWebhook", { id });
    await rig.settle();
    expect(JSON.parse(last().body).type).toBe("webhook.test");
  });

  test("of a disabled endpoint is refused", async () => {
    const { id } = await rig.create(receiver.url);
    await rig.call("updateWebhook", { id, body: { status: "disabled" } });
    expect(await refusal(rig.call("testWebhook", { id }))).toBe("state");
  });
});

describe("a delivery sent again", () => {
  test("is one of its own, with the same webhook-id and body", async () => {
    const { id } = await rig.create(receiver.url);
    await rig.emit();
    await rig.settle();
    const [old] = rig.deliveries(id);
    await rig.pass(HOUR);
    const again = await rig.call("redeliver", { id, delivery: old?.id as string });
    expect(again).toMatchObject({ event_id: old?.eventId, status: "pending" });
    expect(again.id).not.toBe(old?.id);
    await rig.settle();
    expect(receiver.received).toHaveLength(2);
    const [first, second] = receiver.received as [Received, Received];
    expect(second.body).toBe(first.body);
    expect(second.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
    expect(second.headers["webhook-timestamp"]).not.toBe(first.headers["webhook-timestamp"]);
    expect(rig.deliveries(id).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
  });

  test("while it waits: is tried at once, although the endpoint is left alone", async () => {
    receiver.answer = answering(500);
    const { id } = await rig.create(receiver.url);
    for (let n = 0; n < 8; n++) await rig.emit();
    await rig.settle();
    receiver.answer = answering(204);
    const before = receiver.received.length;
    const delivery = rig.deliveries(id).at(-1)?.id as string;
    expect((await rig.call("redeliver", { id, delivery })).id).toBe(delivery);
    await rig.settle();
    expect(receiver.received).toHaveLength(before + 1);
    expect(rig.deliveries(id).at(-1)?.status).toBe("delivered");
    expect(rig.deliveries(id)).toHaveLength(8);
  });

  test("is refused where endpoint, delivery or event do not allow it", async () => {
    const { id } = await rig.create(receiver.url);
    await rig.emit();
    await rig.settle();
    const delivery = rig.deliveries(id)[0]?.id as string;
    expect(await refusal(rig.call("redeliver", { id, delivery: "dlv_x" }))).toBe("not_found");
    expect(await refusal(rig.call("redeliver", { id: "whk_x", delivery }))).toBe("not_found");
    expect(await refusal(rig.call("redeliver", { id, delivery, by: callerOf("org_b") }))).toBe("not_found");
    await rig.store.act(() => rig.events.erase("org_a", 10));
    expect(await refusal(rig.call("redeliver", { id, delivery }))).toBe("state");
    await rig.call("updateWebhook", { id, body: { status: "disabled" } });
    expect(await refusal(rig.call("redeliver", { id, delivery }))).toBe("state");
  });
});
