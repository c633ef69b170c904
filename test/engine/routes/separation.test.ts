/**
 * What a key sees of what is not its own: stored responses of the other environment, records of live calls with a test
 * key, payloads of other projects; and who may let a key read those.
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "../../../src/base/operation/access.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recorded } from "../../support/observations.ts";

let gateway: TestGateway;
/** Secrets of keys of a second project. */
const others: Record<string, string> = {};
let otherProject: string;

beforeAll(async () => {
  gateway = await testGateway({ engine: true });
  otherProject = (await made("/v1/projects", { slug: "other", name: "Other" })).id;
  const inOther = { project_id: otherProject, scopes: ["inference", "read:usage"] };
  others.plain = (await made("/v1/keys", { ...inOther, name: "plain" })).secret;
  const scopes = [...inOther.scopes, "read:payloads"];
  others.allowed = (await made("/v1/keys", { ...inOther, name: "allowed", scopes })).secret;
});
afterAll(() => gateway.stop());

async function made(path: string, body: object, key?: string) {
  const answer = await gateway.call("POST", path, { body, ...(key !== undefined && { key }) });
  expect(answer.status).toBe(201);
  return answer.json;
}

const call = (method: string, path: string, key: string, body?: object) =>
  gateway.call(method, path, { key, ...(body && { body }) });
const respond = (key: string, body: object = {}) =>
  call("POST", "/v1/responses", key, { model: "weir/sim-small", input: "Hello", ...body });

describe("stored responses", () => {
  const sides = () => [
    ["live", gateway.liveKey, gateway.testKey],
    ["test", gateway.testKey, gateway.liveKey],
  ];
  test("O13: a key of one environment does not read, continue, name or delete what the other stored", async () => {
    for (const [, mine, theirs] of sides() as [string, string, string][]) {
      const { json } = await respond(mine);
      const path = `/v1/responses/${json.id}`;
      const item = { type: "item_reference", id: json.output[0].id };
      const strange = [
        await call("GET", path, theirs),
        await call("DELETE", path, theirs),
        await respond(theirs, { previous_response_id: json.id }),
      ];
      expect(strange.map((a) => [a.status, a.json.error?.code])).toEqual([
        [404, "not_found"],
        [404, "not_found"],
        [400, "previous_response_not_found"],
      ]);
      const named = { input: [item, { role: "user", content: "And?" }] };
      expect((await respond(theirs, named)).status).not.toBe(200);
      expect((await respond(mine, named)).status).toBe(200);
      expect((await respond(mine, { previous_response_id: json.id })).status).toBe(200);
      expect((await call("GET", path, mine)).json.id).toBe(json.id);
      expect((await call("DELETE", path, mine)).json).toMatchObject({ deleted: true });
      expect((await call("GET", path, mine)).status).toBe(404);
    }
  });
});

describe("records", () => {
  const idOf = async (key: string) => {
    const answer = await gateway.chat({}, { key });
    expect(answer.status).toBe(200);
    return answer.headers.get("x-svc-request-id") ?? "";
  };

  test.each(["from the outbox", "from ClickHouse"])(
    "O13: %s, payloads are shown to keys of the project and those with read:payloads, and to no other",
    async (from) => {
      const id = await idOf(gateway.liveKey);
      if (from === "from ClickHouse") await recorded(gateway);
      const read = async (key: string, query = "") =>
        (await call("GET", `/v1/requests/${id}${query}`, key)).json;
      for (const query of ["", "?raw=1"]) {
        for (const key of [gateway.liveKey, others.allowed ?? ""]) {
          const shown = await read(key, query);
          expect(shown.payload_state).toBe("available");
          expect(JSON.stringify(shown)).toContain("Hello");
        }
        const plain = await read(others.plain ?? "", query);
        expect(plain).toMatchObject({ request_id: id, payload_state: "restricted", status: "ok" });
        expect(plain.cost.total_micro_usd).toBeGreaterThan(0);
        expect(Object.keys(plain)).not.toEqual(expect.arrayContaining(["request"]));
        expect(Object.keys(plain)).not.toEqual(expect.arrayContaining(["response"]));
        expect(JSON.stringify(plain)).not.toContain("Hello");
      }
      const generation = await call("GET", `/v1/generation/${id}`, others.plain ?? "");
      expect(generation.status).toBe(200);
      expect(generation.text).not.toContain("Hello");
    },
  );

  test("O13: a test key sees the records of test calls only: one by one, in the list and in sums", async () => {
    const [live, tested] = [await idOf(gateway.liveKey), await idOf(gateway.testKey)];
    for (const path of ["/v1/requests/", "/v1/generation/"]) {
      expect((await call("GET", path + live, gateway.testKey)).status).toBe(404);
      expect((await call("GET", path + tested, gateway.testKey)).status).toBe(200);
      expect((await call("GET", path + tested, gateway.liveKey)).status).toBe(200);
    }
    await recorded(gateway);
    expect((await call("GET", `/v1/requests/${live}`, gateway.testKey)).status).toBe(404);
    const idsOf = async (key: string) => {
      const { data } = (await call("GET", "/v1/requests?limit=500", key)).json;
      return (data as { request_id: string }[]).map(({ request_id }) => request_id);
    };
    const [all, tests] = [await idsOf(gateway.liveKey), await idsOf(gateway.testKey)];
    expect(all).toEqual(expect.arrayContaining([live, tested]));
    expect(tests).toContain(tested);
    expect(tests).not.toContain(live);
    for (const query of ["", "&group_by=tag&tag=t", "&granularity=day"]) {
      const sum = async (key: string) =>
        (await call("GET", `/v1/usage?range=7d${query}`, key)).json.totals.requests;
      expect([await sum(gateway.liveKey), await sum(gateway.testKey)]).toEqual([all.length, tests.length]);
    }
  });
});

describe("read:payloads", () => {
  test("O13: no key has it by default; who runs the org may grant it, and nobody else", async () => {
    const keys = (await call("GET", "/v1/keys", gateway.liveKey)).json.data as {
      name: string;
      scopes: string[];
    }[];
    const holders = keys.filter(({ scopes }) => scopes.includes("read:payloads")).map(({ name }) => name);
    expect(holders).toEqual(["allowed"]);
    expect(keys.find(({ name }) => name === "First live key")?.scopes).toEqual(
      SCOPES.filter((scope) => scope !== "read:payloads"),
    );
    const usual = await made("/v1/keys", { name: "usual" });
    expect(usual.scopes).not.toContain("read:payloads");
    for (const scopes of [["write:keys"], ["write:keys", "read:usage"], ["write:org"]]) {
      const clerk = await made("/v1/keys", { name: "clerk", scopes });
      const body = { name: "no", scopes: ["read:payloads"] };
      const refused = await call("POST", "/v1/keys", clerk.secret, body);
      expect([refused.status, refused.json.error.code]).toEqual([403, "scope"]);
      const patched = await call("PATCH", `/v1/keys/${usual.id}`, clerk.secret, body);
      expect(patched.status).toBe(403);
      // Its secret would come back in the answer.
      const allowed = keys.findIndex(({ name }) => name === "allowed");
      const id = (keys[allowed] as unknown as { id: string }).id;
      expect((await call("POST", `/v1/keys/${id}/rotate`, clerk.secret, {})).status).toBe(403);
    }
  });
});
