/** What a receiver gets, and what is kept of it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type DeliveryRow,
  newDelivery,
  shownFields,
  triedAgainAt,
} from "../../../../src/account/webhooks/delivery.ts";
import { deliveryDetail } from "../../../../src/account/webhooks/delivery-wire.ts";
import { answering, fault } from "../../../support/webhooks/receiver.ts";
import { callerOf, DAY, openRig, type Page, type Rig, type Wire } from "./fixtures.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await openRig();
});
afterEach(async () => {
  await rig.dispose();
  expect(rig.failures).toEqual([]);
});

type Detail = Wire & {
  headers: Record<string, string>;
  response_headers: Record<string, string>;
  body: string;
  attempts: Record<string, unknown>[];
};

const pick = (from: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

const listed = async (id: string, query: object = {}) =>
  (await rig.call<Page>("listDeliveries", { id, query })).data;

describe("a delivery", () => {
  test("is the event as GET /v1/events shows it, signed for the endpoint", async () => {
    const receiver = await rig.receiver();
    const { secret } = await rig.create(receiver.url);
    const eventId = await rig.emit("Zürich ₹");
    await rig.settle();
    const [got] = receiver.received;
    expect(receiver.received).toHaveLength(1);
    expect(fault(got as never, secret)).toBe("");
    expect(JSON.parse(got?.body ?? "")).toEqual({
      id: eventId,
      type: "policy.activated",
      org_id: "org_a",
      created_at: new Date(rig.time.now()).toISOString(),
      data: expect.objectContaining({ name: "Zürich ₹" }),
    });
    expect(got?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "Weir-Webhooks/1.2.3",
      "webhook-id": eventId,
      "webhook-timestamp": String(Math.floor(rig.time.now() / 1000)),
    });
  });

  test("is listed with request, answer, status and time", async () => {
    const receiver = await rig.receiver();
    receiver.answer = answering(200, {}, `${"é".repeat(1023)}xé${"y".repeat(5000)}`);
    const { id } = await rig.create(receiver.url);
    const eventId = await rig.emit();
    await rig.settle();
    const [delivery, ...others] = await listed(id);
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({
      event_id: eventId,
      type: "policy.activated",
      attempt: 1,
      status: "delivered",
      http_status: 200,
      error: "",
      request: receiver.received[0]?.body,
      // The character that the 2,048th byte cuts in two is left out.
      response: `${"é".repeat(1023)}x`,
      headers: {
        "content-type": "application/json",
        "webhook-id": eventId,
        "webhook-timestamp": receiver.received[0]?.headers["webhook-timestamp"],
      },
    });
    expect(delivery).not.toHaveProperty("next_at");
    expect(JSON.stringify(delivery)).not.toContain("v1,");
  });

  test.each([200, 201, 202, 204, 299])("answered with %d is a success", async (status) => {
    const receiver = await rig.receiver();
    receiver.answer = answering(status);
    const { id } = await rig.create(receiver.url);
    await rig.emit();
    await rig.settle();
    expect(rig.deliveries(id)[0]).toMatchObject({ status: "delivered", httpStatus: status });
  });

  test.each([301, 302, 307, 308])(
    "answered with a redirect %d is a failure, and goes nowhere else",
    async (status) => {
      const [receiver, other] = [await rig.receiver(), await rig.receiver()];
      receiver.answer = answering(status, { location: other.url });
      const { id } = await rig.create(receiver.url);
      await rig.emit();
      await rig.settle();
      expect(rig.deliveries(id)[0]).toMatchObject({ status: "pending", attempt: 1, httpStatus: status });
      expect(rig.deliveries(id)[0]?.error).toContain("redirects are not followed");
      expect(other.received).toEqual([]);
    },
  );

  test("is kept for 30 days", async () => {
    const receiver = await rig.receiver();
    const { id } = await rig.create(receiver.url);
    await rig.emit();
    await rig.settle();
    rig.time.advance(29 * DAY);
    await rig.webhooks.tables.sweep();
    expect(rig.deliveries(id)).toHaveLength(1);
    rig.time.advance(3 * DAY);
    await rig.webhooks.tables.sweep();
    expect(rig.deliveries(id)).toEqual([]);
  });
});

describe("one delivery", () => {
  const read = (id: string, delivery: string, by = callerOf("org_a")) =>
    rig.call<Detail>("getDelivery", { id, delivery, by });

  test("has what was sent, byte for byte with its signature, what was answered, and each try", async () => {
    const receiver = await rig.receiver();
    const headers = { "Retry-After": "1", "Content-Type": "text/plain", "Set-Cookie": "session=1" };
    receiver.answer = answering(503, headers, "later");
    const { id, secret } = await rig.create(receiver.url);
    const eventId = await rig.emit(`Zürich ₹${"y".repeat(4000)}`);
    await rig.settle();
    const [row] = rig.deliveries(id);
    const first = await read(id, row?.id as string);
    const [got] = receiver.received;
    expect(first).toMatchObject({
      event_id: eventId,
      event_kept: true,
      url: receiver.url,
      status: "pending",
      body: got?.body,
      response: "later",
      response_headers: { "content-type": "text/plain", "retry-after": "1" },
      attempts: [{ attempt: 1, http_status: 503, error: "HTTP 503." }],
    });
    expect(first.headers).toEqual(pick(got?.headers ?? {}, Object.keys(first.headers)));
    expect(fault(first, secret)).toBe("");
    expect(first.response_headers).not.toHaveProperty("set-cookie");
    expect(JSON.stringify(first)).not.toContain(secret);
    receiver.answer = answering(204);
    await rig.passToNext(row as DeliveryRow);
    const second = await read(id, row?.id as string);
    expect(second).toMatchObject({ status: "delivered", response: "", http_status: 204 });
    expect(second.response_headers).not.toHaveProperty("retry-after");
    expect(second.attempts).toMatchObject([
      { ...first.attempts[0], attempt: 1 },
      { attempt: 2, http_status: 204, error: "" },
    ]);
    expect(second.headers["webhook-signature"]).toBe(receiver.received[1]?.headers["webhook-signature"]);
  });

  test("that waits for its first try has what would be sent", async () => {
    const receiver = await rig.receiver();
    const { id } = await rig.create(receiver.url);
    const eventId = await rig.emit();
    const [row] = rig.deliveries(id);
    const waiting = await read(id, row?.id as string);
    expect(waiting).toMatchObject({ status: "pending", attempt: 0, attempts: [], event_kept: true });
    expect(waiting.headers).toEqual({ "content-type": "application/json", "webhook-id": eventId });
    await rig.settle();
    expect(receiver.received[0]?.body).toBe(waiting.body);
  });

  test("says that its event is gone", async () => {
    const receiver = await rig.receiver();
    const { id } = await rig.create(receiver.url);
    await rig.emit();
    await rig.settle();
    const [row] = rig.deliveries(id);
    await rig.store.act(() => void rig.events.erase("org_a", 10));
    const bare = await read(id, row?.id as string);
    expect(bare).toMatchObject({ event_kept: false, status: "delivered", attempts: [{ attempt: 1 }] });
    expect([bare.body, bare.request]).toEqual([undefined, undefined]);
  });

  test("keeps the newest tries, and a bounded part of a header", async () => {
    const fields = Array.from({ length: 60 }, (_, i) => [`X-Name-${i}`, "v".repeat(1000)]).flat();
    const shown = shownFields(["Via", "a", "via", "b", ...fields]);
    expect([Object.keys(shown).length, shown.via, shown["x-name-0"]?.length]).toEqual([32, "a, b", 256]);
    const fresh = newDelivery(
      { endpointId: "whk_1", orgId: "org_a", eventId: "evt_1", type: "key.created", isAsked: false },
      0,
    );
    const attempt = { httpStatus: 500, durationMs: 1, response: "", error: "HTTP 500." };
    let row: DeliveryRow = fresh;
    for (let i = 1; i <= 30; i++) row = triedAgainAt(row, { ...attempt, atMs: i }, i + 1);
    const { attempts } = deliveryDetail(row, undefined, "https://example.com/");
    expect([attempts.length, attempts[0]?.attempt, attempts.at(-1)?.attempt]).toEqual([24, 7, 30]);
    // A row that was written without its tries.
    const { tries: _, ...before } = row;
    expect(deliveryDetail(before, undefined, "").attempts).toMatchObject([{ attempt: 30, http_status: 500 }]);
  });

  test("is read by the webhook's own org only, under its own webhook", async () => {
    const receiver = await rig.receiver();
    const [{ id }, other] = [await rig.create(receiver.url), await rig.create(receiver.url)];
    await rig.emit();
    const delivery = rig.deliveries(id)[0]?.id as string;
    for (const asked of [read(id, delivery, callerOf("org_b")), read(other.id, delivery), read(id, "dlv_x")])
      await expect(asked).rejects.toMatchObject({ kind: "not_found" });
  });
});

describe("deliveries exist", () => {
  test("if and only if the act of the event commits", async () => {
    const receiver = await rig.receiver();
    const { id } = await rig.create(receiver.url);
    const refused = rig.store.act(() => {
      rig.putEvent("never");
      throw new Error("no");
    });
    await expect(refused).rejects.toThrow("no");
    await rig.settle();
    expect([rig.deliveries(id), receiver.received]).toEqual([[], []]);
    await rig.emit("once");
    await rig.settle();
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.name)).toEqual(["once"]);
  });

  test("for the endpoints that want the type, are active and of the org", async () => {
    const receiver = await rig.receiver();
    const urlOf = (name: string) => receiver.url.replace("/hook", `/${name}`);
    await rig.create(urlOf("all"));
    await rig.create(urlOf("this"), { events: ["key.created", "policy.activated"] });
    await rig.create(urlOf("other"), { events: ["key.created"] });
    const { id } = await rig.create(urlOf("disabled"));
    await rig.call("updateWebhook", { id, body: { status: "disabled" } });
    await rig.create(urlOf("stranger"), {}, callerOf("org_b"));
    await rig.emit();
    await rig.settle();
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(["/all", "/this"]);
  });

  test("for an endpoint that an earlier act of the same turn created", async () => {
    const receiver = await rig.receiver();
    const creating = rig.create(receiver.url);
    const emitting = rig.emit();
    await Promise.all([creating, emitting]);
    await rig.settle();
    expect(receiver.received).toHaveLength(1);
  });
});

describe("the list of deliveries", () => {
  test("is paged, newest first, and filtered by status and type", async () => {
    const receiver = await rig.receiver();
    receiver.answer = (response, { body }) => answering(body.includes("bad") ? 500 : 204)(response);
    const { id } = await rig.create(receiver.url);
    for (const name of ["a", "bad", "b", "c"]) {
      await rig.emit(name);
      await rig.settle();
    }
    const names = (data: Page["data"]) => data.map(({ request }) => JSON.parse(request as string).data.name);
    expect(names(await listed(id))).toEqual(["c", "b", "bad", "a"]);
    expect(names(await listed(id, { status: "pending" }))).toEqual(["bad"]);
    expect(names(await listed(id, { status: "delivered" }))).toEqual(["c", "b", "a"]);
    expect(await listed(id, { type: "key.created" })).toEqual([]);
    const first = await rig.call<Page>("listDeliveries", { id, query: { limit: 3 } });
    const cursor = first.next_cursor;
    const second = await rig.call<Page>("listDeliveries", { id, query: { limit: 3, cursor } });
    expect([names(first.data), names(second.data), second.next_cursor]).toEqual([
      ["c", "b", "bad"],
      ["a"],
      "",
    ]);
    await expect(rig.call("listDeliveries", { id, query: { limit: 201 } })).rejects.toThrow();
  });

  test("is of the org's own endpoints only", async () => {
    const receiver = await rig.receiver();
    const { id } = await rig.create(receiver.url);
    await expect(rig.call("listDeliveries", { id, by: callerOf("org_b") })).rejects.toMatchObject({
      kind: "not_found",
    });
  });
});
