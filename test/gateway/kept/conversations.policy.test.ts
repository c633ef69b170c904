/** What may not be kept is in no conversation; what may counts in the org's quota; both last over a restart. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeFolder, seededFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { keptOf, MAX_TEST, PROSE, respond, SETTINGS } from "../../support/kept/fixtures.ts";
import { addOrgs } from "../../support/money/orgs.ts";

let folder: string;
let gateway: TestGateway;
const keys = { zdr: "", brief: "", off: "", metadata: "", usual: "" };
const start = () => testGateway({ folder, settings: SETTINGS });
beforeAll(async () => {
  folder = await seededFolder(() => {});
  const creditMicroUsd = 50_000_000;
  const added = await addOrgs(folder, {
    zdr: { creditMicroUsd, dataPolicy: { zdr: true } },
    brief: { creditMicroUsd, dataPolicy: { retentionDays: 0 } },
    off: { creditMicroUsd, dataPolicy: { logging: "off" } },
    metadata: { creditMicroUsd, dataPolicy: { logging: "metadata" } },
    usual: { creditMicroUsd },
  });
  Object.assign(keys, added);
  gateway = await start();
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});

const call = (method: string, path: string, body?: unknown, key = keys.usual) =>
  gateway.call(method, `/v1/conversations${path}`, { ...(body !== undefined && { body }), key });
const made = async (content = "Hello", key = keys.usual): Promise<string> =>
  (await call("POST", "", { items: [{ role: "user", content }] }, key)).json.id;
const ask = (conversation: string, more: object = {}, key = keys.usual) =>
  respond(gateway, { conversation, ...more }, { key });
const items = async (id: string, key = keys.usual) =>
  (await call("GET", `/${id}/items?limit=100`, undefined, key)).json.data;

/** Whether a text stands in any file of the data folder. */
function isOnDisk(text: string, at = join(folder, "data")): boolean {
  return readdirSync(at, { withFileTypes: true, recursive: true }).some(
    (entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text),
  );
}

describe("what may not be kept", () => {
  test.each(["zdr", "brief", "off", "metadata"] as const)(
    "%s: neither made nor gone on from",
    async (org) => {
      const secret = `secret-of-${org}`;
      const refused = await call("POST", "", { items: [{ role: "user", content: secret }] }, keys[org]);
      expect([refused.status, refused.json.error.code]).toEqual([400, "unsupported_option"]);
      const calls = gateway.simulator.totalCalls;
      const asked = await ask("conv_01JZZZZZZZZZZZZZZZZZZZZZZZ", { input: secret }, keys[org]);
      expect([asked.status, asked.json.error.code, asked.json.error.param]).toEqual([
        400,
        "unsupported_option",
        "/conversation",
      ]);
      expect(asked.json.error.message).toContain("store: false");
      expect(gateway.simulator.totalCalls).toBe(calls);
      expect(isOnDisk(secret)).toBe(false);
    },
  );

  test.each([false, true])(
    "a request with zero data retention: refused, and with `store: false` it leaves no byte; stream: %s",
    async (stream) => {
      const id = await made("Remember LEMON.");
      const input = `not to be kept ${stream}`;
      const svc = { route: { require: { zdr: true } } };
      const refused = await ask(id, { input, svc, stream });
      expect([refused.status, refused.json.error.code]).toEqual([400, "unsupported_option"]);
      const answered = await ask(id, { input, svc, stream, store: false });
      expect(answered.status, answered.text).toBe(200);
      expect(gateway.simulator.calls.at(-1)?.body.toString()).toContain("LEMON");
      expect(answered.text).toContain(id);
      expect(isOnDisk(input)).toBe(false);
      expect(await items(id)).toHaveLength(1);
      // The refusal has let go of it.
      expect((await ask(id)).status).toBe(200);
    },
  );

  test("a routing policy that asks for it: refused before the upstream, and the conversation is let go", async () => {
    const key = gateway.liveKey;
    const id = await made("Hello", key);
    const yaml = "version: 1\ndefaults:\n  require: {zdr: true}\n";
    const policy = await gateway.call("POST", "/v1/policies", { body: { name: "private", yaml } });
    expect(policy.status, policy.text).toBe(201);
    const act = (what: string, body: object) =>
      gateway.call("POST", `/v1/policies/private/${what}`, { body });
    expect((await act("activate", { version: 1 })).status).toBe(200);
    const calls = gateway.simulator.totalCalls;
    const refused = await ask(id, {}, key);
    expect([refused.status, refused.json.error.code]).toEqual([400, "unsupported_option"]);
    expect(gateway.simulator.totalCalls).toBe(calls);
    expect((await ask(id, { store: false }, key)).status).toBe(200);
    await act("deactivate", {});
    expect((await ask(id, {}, key)).status).toBe(200);
    expect(await items(id, key)).toHaveLength(3);
  });
});

describe("the quota", () => {
  const asTest = () => gateway.testKey;

  test("counts what a conversation has, and its end", async () => {
    const before = (await keptOf(gateway, "test")).responses_bytes;
    const id = await made(PROSE, asTest());
    const first = (await keptOf(gateway, "test")).responses_bytes;
    expect(first - before).toBeGreaterThan(PROSE.length);
    expect(first - before).toBeLessThan(PROSE.length + 1000);
    await ask(id, { store: true }, asTest());
    const [item] = await items(id, asTest());
    const more = (await keptOf(gateway, "test")).responses_bytes;
    await call("DELETE", `/${id}/items/${item.id}`, undefined, asTest());
    expect((await keptOf(gateway, "test")).responses_bytes).toBeLessThan(more);
    await call("DELETE", `/${id}`, undefined, asTest());
    expect((await keptOf(gateway, "test")).responses_bytes).toBeGreaterThanOrEqual(before);
  });

  test("is not exceeded by 200 at once, nor one after the other; a call without room is refused before its upstream", async () => {
    const ends = await Promise.all(
      Array.from({ length: 200 }, () =>
        call("POST", "", { items: [{ role: "user", content: PROSE }] }, asTest()),
      ),
    );
    for (const { status, json } of ends)
      if (status !== 200) expect([status, json.error.code]).toEqual([403, "plan_limit"]);
    expect(ends.filter(({ status }) => status === 200).length).toBeGreaterThan(5);
    const ids = ends.flatMap(({ status, json }) => (status === 200 ? [json.id as string] : []));
    expect((await keptOf(gateway, "test")).bytes).toBeLessThanOrEqual(MAX_TEST);
    for (let at = 0; at < 200; at++) if ((await call("POST", "", {}, asTest())).status === 403) break;
    const calls = gateway.simulator.totalCalls;
    const refused = await ask(ids[0] ?? "", {}, asTest());
    expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([
      403,
      "plan_limit",
      "/conversation",
    ]);
    expect(refused.json.error.details).toMatchObject({ environment: "test", max_bytes: MAX_TEST });
    expect(gateway.simulator.totalCalls).toBe(calls);
    const added = await call(
      "POST",
      `/${ids[0]}/items`,
      { items: [{ role: "user", content: PROSE }] },
      asTest(),
    );
    expect([added.status, added.json.error.code]).toEqual([403, "plan_limit"]);
    expect((await keptOf(gateway, "test")).bytes).toBeLessThanOrEqual(MAX_TEST);
    // A refusal holds nothing, and an end makes room.
    for (const id of ids.slice(1))
      expect((await call("DELETE", `/${id}`, undefined, asTest())).status).toBe(200);
    expect((await ask(ids[0] ?? "", {}, asTest())).status).toBe(200);
  });
});

test("a restart keeps conversations, what they count, and where they were answered", async () => {
  const id = await made("Before");
  await ask(id);
  const before = [await items(id), (await keptOf(gateway, "test")).responses_bytes];
  await gateway.stop();
  gateway = await start();
  expect([await items(id), (await keptOf(gateway, "test")).responses_bytes]).toEqual(before);
  expect((await ask(id)).status).toBe(200);
  expect(await items(id)).toHaveLength(5);
});
