/**
 * An org's own provider keys from the route to the ledger: whose credential the upstream sees, what is charged and held, what
 * the record says, and that no secret is anywhere but at the provider.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { allRecords, auditedLedger, chargesOf, idle } from "../../support/money/fixtures.ts";
import { addOrgs } from "../../support/money/orgs.ts";
import { until } from "../../support/wait.ts";

const secret = (name: string) => `sk-${name}-${randomBytes(16).toString("hex")}`;
const PLATFORM = secret("platform");
const OWN = secret("own");
const MESSAGE = { model: "test/model", messages: [{ role: "user", content: "Hello" }], max_tokens: 100 };

describe("a gateway", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-byok-"));
  const dataDir = join(folder, "data");
  const log: string[] = [];
  const options = {
    folder,
    engine: true,
    log,
    settings: { byok: { fee_bps: 1000, fee_micro_per_request: 3 } },
    env: { LOG_LEVEL: "trace" },
    endpoints: [
      // Nobody has set its variable: only an own key reaches it.
      { provider: "shut", credentialEnv: "BYOK_TEST_NEVER_SET", isReal: true },
      {
        provider: "open",
        credentialEnv: "BYOK_TEST_PLATFORM",
        isReal: true,
        price: { input: 10, output: 20 },
      },
      {
        provider: "refusing",
        credentialEnv: "BYOK_TEST_PLATFORM",
        isReal: true,
        instruction: { status: 401 },
      },
      {
        provider: "quoting",
        credentialEnv: "BYOK_TEST_NEVER_SET",
        isReal: true,
        instruction: { status: 400, error_message: `Header authorization: Bearer ${OWN}`, error_code: OWN },
      },
    ],
  };
  let gateway: TestGateway;
  let stranger: string;
  const answers: string[] = [];

  beforeAll(async () => {
    process.env.BYOK_TEST_PLATFORM = PLATFORM;
    await (await testGateway({ ...options, cells: 0 })).stop();
    stranger = (await addOrgs(folder, { stranger: { creditMicroUsd: 5_000_000 } })).stranger;
    gateway = await testGateway(options);
  });
  afterAll(async () => {
    delete process.env.BYOK_TEST_PLATFORM;
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const call: TestGateway["call"] = async (...request) => {
    const answer = await gateway.call(...request);
    answers.push(answer.text, JSON.stringify([...answer.headers]));
    return answer;
  };
  const chat = (provider: string, body: object = {}, key: string = gateway.liveKey) =>
    call("POST", "/v1/chat/completions", {
      body: { ...MESSAGE, svc: { route: { providers: { only: [provider] } } }, ...body },
      key,
      headers: { "x-svc-debug": "1" },
    });
  const add = async (provider: string, body: object = {}) => {
    const answer = await call("POST", "/v1/provider-keys", { body: { provider, credential: OWN, ...body } });
    expect(answer.status, answer.text).toBe(201);
    return answer.json.id as string;
  };
  const remove = (id: string) => call("DELETE", `/v1/provider-keys/${id}`);
  /** By the project, as its budget counts. */
  const spent = async () => (await call("GET", "/v1/projects")).json.data[0].spend_month_micro as number;
  /** The credential that the upstream saw last. */
  const seen = () => gateway.simulator.calls.at(-1)?.headers.authorization;
  /** The gateway's own question about a refused key, which comes at any time behind the refusal. */
  const isProbe = ({ body }: { readonly body: Buffer }): boolean => body.includes('"content":"Hi"');

  test("reaches with an own key what it has no credential for, for that org and until it is deleted", async () => {
    expect(await chat("shut")).toMatchObject({ status: 404, json: { error: { code: "no_endpoint" } } });
    const id = await add("shut");
    expect((await chat("shut")).status).toBe(200);
    expect(seen()).toBe(`Bearer ${OWN}`);
    expect((await chat("shut", {}, stranger)).status).toBe(404);
    expect((await chat("shut", {}, gateway.testKey)).status).toBe(404);
    expect((await remove(id)).status).toBe(204);
    expect((await chat("shut")).status).toBe(404);
  });

  test("uses the own key first, for nobody else, and its own again once that is gone", async () => {
    await chat("open");
    expect(seen()).toBe(`Bearer ${PLATFORM}`);
    const id = await add("open");
    for (const stream of [false, true]) {
      await chat("open", { stream });
      expect(seen()).toBe(`Bearer ${OWN}`);
      await chat("open", { stream }, stranger);
      expect(seen()).toBe(`Bearer ${PLATFORM}`);
    }
    await remove(id);
    await chat("open");
    expect(seen()).toBe(`Bearer ${PLATFORM}`);
  });

  test("shares an own pool's load over its keys", async () => {
    const other = secret("other");
    const ids = [await add("shut"), await add("shut", { credential: other })];
    const before = gateway.simulator.calls.length;
    await Promise.all(Array.from({ length: 8 }, () => chat("shut")));
    const used = gateway.simulator.calls.slice(before).map(({ headers }) => headers.authorization);
    expect(new Set(used)).toEqual(new Set([`Bearer ${OWN}`, `Bearer ${other}`]));
    for (const id of ids) await remove(id);
  });

  test.each([false, true])(
    "charges a fee instead of tokens (streamed: %s), and the record says so",
    async (stream) => {
      const id = await add("open");
      const before = await spent();
      const { headers } = await chat("open", { stream });
      await remove(id);
      const requestId = headers.get("x-request-id") ?? "";
      await idle(gateway);
      const { json: shown } = await call("GET", `/v1/requests/${requestId}`);
      const { json: generation } = await call("GET", `/v1/generation/${requestId}`);
      const tokens = shown.input_tokens * 10 + shown.output_tokens * 20;
      const fee = Math.round(tokens / 10) + 3;
      expect(tokens).toBeGreaterThan(100);
      expect(shown).toMatchObject({ byok: true, cost_micro: fee, usage_source: "provider" });
      expect(shown.attempt_rows).toMatchObject([{ pool_id: "byok_open", key_hint: OWN.slice(-4) }]);
      const line = { kind: "byok_fee", units: 1, unit_price_nano: fee * 1000, micro_usd: fee };
      expect(generation.cost).toMatchObject({ total_micro_usd: fee, lines: [line] });
      expect(chargesOf(await auditedLedger(gateway)).get(requestId)).toBe(fee);
      expect((await spent()) - before).toBe(fee);
      expect((await gateway.balance()).held).toBe(0);
    },
  );

  test("tells by usage what own keys answered, and what that cost", async () => {
    await idle(gateway);
    const records = [...(await allRecords(gateway)).values()] as unknown as {
      byok: boolean;
      cost_micro: number;
    }[];
    const own = records.filter(({ byok }) => byok);
    expect(own.length).toBeGreaterThan(5);
    const expected = {
      key: "true",
      requests: own.length,
      cost_micro: own.reduce((sum, { cost_micro }) => sum + cost_micro, 0),
    };
    let groups: (typeof expected)[] = [];
    await until("usage has every record", async () => {
      groups = (await call("GET", "/v1/usage?group_by=byok")).json.groups;
      return groups.find(({ key }) => key === "true")?.requests === own.length;
    });
    expect(groups.find(({ key }) => key === "true")).toMatchObject(expected);
  });

  test("where the platform's key is forbidden holds the fee only, and never uses it", async () => {
    // What the dry run would hold: the prompt's bound and 100 tokens at the platform's price, or a tenth of it and 3.
    const body = {
      model: "test/model",
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      generation: { max_tokens: 100 },
      route: { providers: { only: ["open"] } },
    };
    const held = async () => (await call("POST", "/v1/svc/dry_run", { body })).json.reserve_micro as number;
    const usual = await held();
    const id = await add("open", { platform_fallback: false });
    expect(await held()).toBe(Math.round(usual / 10) + 3);
    await remove(id);
    expect(await held()).toBe(usual);
  });

  test.each([
    [true, [`Bearer ${OWN}`, `Bearer ${PLATFORM}`]],
    [false, [`Bearer ${OWN}`]],
  ])(
    "asks again with the platform's key where the own one is refused, if it may (%s)",
    async (may, expected) => {
      const id = await add("refusing", { platform_fallback: may });
      const before = gateway.simulator.calls.length;
      expect((await chat("refusing")).status).toBe(502);
      const asked = gateway.simulator.calls.slice(before).filter((one) => !isProbe(one));
      const used = asked.map(({ headers }) => headers.authorization);
      expect(used).toEqual(expected);
      await remove(id);
    },
  );

  test("T61: tells the credential to its provider and to nobody and nothing else", async () => {
    const id = await add("quoting");
    await add("open");
    for (const stream of [false, true]) await chat("quoting", { stream });
    await call("GET", "/v1/provider-keys");
    await call("POST", "/v1/provider-keys", { body: { provider: OWN, credential: OWN } });
    await call("POST", "/v1/provider-keys", { body: { provider: "open", credential: `${OWN} ${OWN}` } });
    await call("POST", "/v1/provider-keys", { body: { provider: "simulator", credential: OWN } });
    await call("POST", "/v1/provider-keys", {
      body: { provider: "open", credential: OWN },
      key: gateway.testKey,
    });
    await remove(id);
    await idle(gateway);
    for (const requestId of (await allRecords(gateway)).keys())
      await call("GET", `/v1/requests/${requestId}`);
    const files = () =>
      readdirSync(dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((file) => readFileSync(file).includes(OWN));
    expect(files()).toEqual([]);
    await gateway.stop();
    expect(files()).toEqual([]);
    gateway = await testGateway(options);
    expect(answers.join("\n")).not.toContain(OWN);
    expect(log.join("\n")).not.toContain(OWN);
    // After the restart the key that was left opens again.
    await chat("open");
    expect(seen()).toBe(`Bearer ${OWN}`);
  });
});
