/** Webhooks of a whole gateway: from a change to the receiver, and what the gateway says of them elsewhere. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { OpenApiDocument } from "../../../../src/edge/openapi/openapi-types.ts";
import { EVENT_NAMES } from "../../../../src/store/events/types.ts";
import { signInAt } from "../../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { Browser } from "../../../support/simulator/identity.fixtures.ts";
import { until } from "../../../support/wait.ts";
import { answering, fault, type Receiver, startReceiver } from "../../../support/webhooks/receiver.ts";

let gateway: TestGateway;
let receiver: Receiver;
let document: OpenApiDocument;
beforeAll(async () => {
  receiver = await startReceiver();
  gateway = await testGateway({ engine: false });
  document = (await gateway.call("GET", "/openapi.json", { key: null })).json;
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

const create = (url: string, body: object = {}) =>
  gateway.call("POST", "/v1/webhooks", { body: { url, ...body } });

test("a change is told to the receiver, signed, as the schema of its type says", async () => {
  const { json: webhook } = await create(receiver.url, { events: ["key.created"] });
  const body = { name: "made", scopes: ["inference"] };
  const { json: key } = await gateway.call("POST", "/v1/keys", { body });
  await until("the event arrived", () => receiver.received.length === 1);
  const [got] = receiver.received;
  expect(fault(got as never, webhook.secret)).toBe("");
  const event = JSON.parse(got?.body ?? "");
  expect(event).toMatchObject({ type: "key.created", data: { id: key.id, name: "made" } });
  expect(got?.body).not.toContain(key.secret);
  const item = document.webhooks["key.created"]?.post;
  const schema = item?.requestBody?.content["application/json"]?.schema;
  z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).parse(event);
  const path = `/v1/webhooks/${webhook.id}/deliveries`;
  await until(
    "it is noted",
    async () => (await gateway.call("GET", path)).json.data[0].status === "delivered",
  );
  const { json: listed } = await gateway.call("GET", `${path}?type=key.created`);
  expect(listed.data).toMatchObject([
    { event_id: event.id, attempt: 1, http_status: 204, request: got?.body },
  ]);
  expect((await gateway.call("GET", `${path}?event=${event.id}`)).json.data).toEqual(listed.data);
  expect((await gateway.call("GET", `${path}?event=evt_0`)).json.data).toEqual([]);
  const { json: happened } = await gateway.call("GET", "/v1/events?type=key.created");
  expect(happened.data[0]).toEqual(event);
  const one = await gateway.call("GET", `/v1/events/${event.id}`);
  expect([one.status, one.json]).toEqual([200, event]);
  await gateway.call("DELETE", `/v1/webhooks/${webhook.id}`);
});

test("a delivery is read alone, with all that was sent, and nothing of an answer from this machine", async () => {
  const { json: webhook } = await create(receiver.url, { events: ["topup.disputed"] });
  receiver.answer = answering(500, { "x-inner": "secret" }, "inner words");
  const { json: sent } = await gateway.call("POST", `/v1/webhooks/${webhook.id}/test`);
  const path = `/v1/webhooks/${webhook.id}/deliveries/${sent.id}`;
  await until("it has ended", async () => (await gateway.call("GET", path)).json.status === "failed");
  receiver.answer = answering(204);
  const { json: delivery, text } = await gateway.call("GET", path);
  const got = receiver.received.at(-1);
  expect(delivery).toMatchObject({
    id: sent.id,
    url: receiver.url,
    event_kept: true,
    body: got?.body,
    http_status: 500,
    response: "",
    response_headers: {},
    attempts: [{ attempt: 1, http_status: 500 }],
  });
  expect(fault(delivery, webhook.secret)).toBe("");
  for (const hidden of [webhook.secret, "inner"]) expect(text).not.toContain(hidden);
  const { json: other } = await create(receiver.url);
  const elsewhere = await gateway.call("GET", path.replace(webhook.id, other.id));
  expect([elsewhere.status, elsewhere.json.error.code]).toEqual([404, "not_found"]);
  for (const { id } of [webhook, other]) await gateway.call("DELETE", `/v1/webhooks/${id}`);
});

test("events are filtered by types, by what they tell of, and by time, and read by id in their org only", async () => {
  const { json: key } = await gateway.call("POST", "/v1/keys", { body: { name: "brief" } });
  await gateway.call("DELETE", `/v1/keys/${key.id}`);
  const typesOf = async (query: string) =>
    (await gateway.call("GET", `/v1/events?${query}`)).json.data.map(({ type }: { type: string }) => type);
  const both = "type=key.created&type=key.revoked";
  expect(await typesOf(`target=${key.id}&${both}`)).toEqual(["key.revoked", "key.created"]);
  expect(await typesOf(`target=${key.id}&type=key.created`)).toEqual(["key.created"]);
  const [newest] = (await gateway.call("GET", "/v1/events")).json.data;
  expect(await typesOf(`target=${key.id}&until=${newest.created_at}`)).not.toContain("key.revoked");
  expect(await typesOf(`target=${key.id}&since=${newest.created_at}`)).toContain("key.revoked");
  const unknown = await gateway.call("GET", "/v1/events?type=key.created&type=key.lost");
  expect([unknown.status, unknown.json.error.code]).toEqual([400, "invalid_value"]);

  // The first who signs in owns the first org.
  await signInAt(gateway.url, { email: "first@example.com" });
  const stranger = await signInAt(gateway.url, { email: "stranger@example.com" });
  const org = { slug: "strange", name: "Strange", billing_country: "US" };
  expect((await stranger.call("POST", "/v1/orgs", { body: org })).status).toBe(201);
  const read = await stranger.call("GET", `/v1/events/${newest.id}`);
  expect([read.status, read.json.error.code]).toEqual([404, "not_found"]);
});

test("every write is in the audit without the secret", async () => {
  const { json: made } = await create(receiver.url);
  const { json: rotated } = await gateway.call("POST", `/v1/webhooks/${made.id}/rotate`);
  await gateway.call("DELETE", `/v1/webhooks/${made.id}`);
  const audit = await gateway.call("GET", `/v1/audit?target=${made.id}`);
  expect(audit.json.data.map(({ act }: { act: string }) => act)).toEqual([
    "webhook.delete",
    "webhook.rotate",
    "webhook.create",
  ]);
  const byKind = (kind: string) => gateway.call("GET", `/v1/audit?target=${made.id}&actor_kind=${kind}`);
  expect((await byKind("key")).json.data).toHaveLength(3);
  expect((await byKind("operator")).json.data).toEqual([]);
  expect((await byKind("neighbour")).json.error.param).toBe("/actor_kind");
  for (const secret of [made.secret, rotated.secret]) expect(audit.text).not.toContain(secret);
});

test("a key needs write:org to change webhooks and read:org to see them", async () => {
  const body = { name: "reader", scopes: ["read:org"] };
  const { secret: key } = (await gateway.call("POST", "/v1/keys", { body })).json;
  expect((await gateway.call("GET", "/v1/webhooks", { key })).status).toBe(200);
  const refused = await gateway.call("POST", "/v1/webhooks", { key, body: { url: receiver.url } });
  expect([refused.status, refused.json.error.code]).toEqual([403, "scope"]);
});

describe("what webhooks may reach", () => {
  test("is never the gateway itself", async () => {
    const refused = await create(`${gateway.url}/hook`);
    expect([refused.status, refused.json.error]).toMatchObject([
      400,
      { code: "invalid_value", param: "/url" },
    ]);
  });

  test("is never the built-in identity provider, wherever it listens", async () => {
    const away = await new Browser().visit(`${gateway.url}/auth/login`);
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
      const refused = await create(`http://${host}:${new URL(away.url).port}/hook`);
      expect([refused.status, refused.json.error]).toMatchObject([
        400,
        { code: "invalid_value", param: "/url" },
      ]);
    }
  });

  test("is loopback while only this machine reaches the gateway, unless the settings say otherwise", async () => {
    expect((await create(receiver.url)).status).toBe(201);
    const strict = await testGateway({ engine: false, settings: { webhooks: { allow: [] } } });
    const wide = await testGateway({ engine: false, settings: { webhooks: { allow: ["10.0.0.0/8"] } } });
    try {
      const statusOf = async (at: TestGateway, url: string) =>
        (await at.call("POST", "/v1/webhooks", { body: { url } })).status;
      expect(await statusOf(strict, receiver.url)).toBe(400);
      expect(await statusOf(wide, receiver.url)).toBe(400);
      expect(await statusOf(wide, "https://10.1.2.3/hook")).toBe(201);
      expect(await statusOf(gateway, "https://10.1.2.3/hook")).toBe(400);
    } finally {
      await strict.stop();
      await wide.stop();
    }
  });

  test("is not read from ranges that are none", async () => {
    for (const [allow, where] of [
      [["10.0.0.0"], "/webhooks/allow/0"],
      [["10.0.0.0/8", "10.0.0.1/8"], "/webhooks/allow/1"],
    ] as const) {
      await expect(testGateway({ engine: false, settings: { webhooks: { allow } } })).rejects.toThrow(where);
    }
  });
});

describe("/openapi.json", () => {
  test("has every type of event", () => {
    expect(Object.keys(document.webhooks)).toEqual(EVENT_NAMES);
    const ids = Object.values(document.webhooks).map(({ post }) => post.operationId);
    expect(new Set(ids).size).toBe(EVENT_NAMES.length);
  });

  test("has a schema of each type's data, but of those that nothing emits yet", () => {
    const without = Object.entries(document.webhooks).flatMap(([name, { post }]) => {
      const data = post.requestBody?.content["application/json"]?.schema.properties?.data;
      return typeof data === "object" && data.properties !== undefined ? [] : [name];
    });
    expect(without).toEqual(["erasure.done"]);
  });
});

test("/metrics counts deliveries and jobs", async () => {
  const { text } = await gateway.call("GET", "/metrics", { key: null });
  expect(text).toMatch(/^weir_webhooks_deliveries_total\{outcome="delivered"\} [1-9]/m);
  expect(text).toMatch(/^weir_webhooks_tries_total\{outcome="good"\} [1-9]/m);
  expect(text).toMatch(/^weir_webhooks_running \d/m);
  expect(text).toMatch(/^weir_jobs_done_total\{kind="webhooks.deliver"\} [1-9]/m);
  expect(text).toMatch(/^weir_jobs_stuck 0$/m);
});
