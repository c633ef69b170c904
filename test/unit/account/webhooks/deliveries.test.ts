/** What a receiver gets, and what is kept of it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { answering, fault } from "../../../support/webhooks/receiver.ts";
import { callerOf, DAY, openRig, type Page, type Rig } from "./fixtures.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await openRig();
});
afterEach(async () => {
  await rig.dispose();
  expect(rig.failures).toEqual([]);
});

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
