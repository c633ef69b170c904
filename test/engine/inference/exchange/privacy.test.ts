/**
 * What must not be kept is nowhere: not in the store, its journal, ClickHouse's folder, or the operator's log. Files are
 * searched byte by byte and ClickHouse besides, because it compresses; what is kept shows that the search would find it.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { allRecords, idle } from "../../../support/money/fixtures.ts";
import { addOrgs } from "../../../support/money/orgs.ts";

const PROVIDER_KEY = `sk-provider-${randomBytes(16).toString("hex")}`;
const CALLER_SECRET = `sk-caller-${randomBytes(16).toString("hex")}`;
/** Passes the check digit, so that the preset takes it for a card. */
const CARD = "4111 1111 1111 1111";

/** What upstreams do to a call, quoting their credential in all that they can. */
const bearer = `Bearer ${PROVIDER_KEY}`;
const FAULTS: readonly Record<string, unknown>[] = [
  { status: 401, error_message: `Incorrect API key provided: ${PROVIDER_KEY}` },
  { status: 400, error_message: `Header authorization: ${bearer} was refused`, error_code: PROVIDER_KEY },
  { status: 422, error_type: PROVIDER_KEY, error_message: PROVIDER_KEY.repeat(3) },
  { status: 403, error_message: bearer },
  { status: 429, error_message: bearer, retry_after_ms: 1 },
  { status: 500, error_message: bearer },
  { fault: "error_first", error_message: `invalid_request ${bearer}`, error_code: "invalid_request" },
  { fault: "error_mid", error_message: bearer, error_code: PROVIDER_KEY },
  { fault: "wrong_type" },
  { fault: "half_json" },
  { fault: "reset" },
  { fault: "malformed" },
];
const guarded = { credentialEnv: "PRIVACY_TEST_KEY", isReal: true };

const folder = mkdtempSync(join(tmpdir(), "weir-privacy-"));
const dataDir = join(folder, "data");
const log: string[] = [];
const options = {
  folder,
  engine: true,
  log,
  endpoints: [
    { ...guarded, provider: "guarded" },
    ...FAULTS.map((instruction, at) => ({ ...guarded, provider: `fault-${at}`, instruction })),
  ],
};
let gateway: TestGateway;
const orgs = {} as Record<"on" | "metadata" | "off" | "zdr", string>;

beforeAll(async () => {
  process.env.PRIVACY_TEST_KEY = PROVIDER_KEY;
  await (await testGateway({ ...options, cells: 0 })).stop();
  const creditMicroUsd = 5_000_000;
  Object.assign(
    orgs,
    await addOrgs(folder, {
      on: { creditMicroUsd, dataPolicy: { logging: "on" } },
      metadata: { creditMicroUsd, dataPolicy: { logging: "metadata" } },
      off: { creditMicroUsd, dataPolicy: { logging: "off" } },
      zdr: { creditMicroUsd, dataPolicy: { logging: "on", zdr: true } },
    }),
  );
  gateway = await testGateway(options);
});
afterAll(async () => {
  delete process.env.PRIVACY_TEST_KEY;
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A prompt that is answered with itself, as the ways of a call go: whole, streamed, refused, broken, left. */
async function callAllWays(key: string, text: string, more: object = {}): Promise<void> {
  const only = { route: { providers: { only: ["guarded"] } } };
  const body = {
    model: "test/model",
    messages: [{ role: "user", content: text }],
    max_tokens: 400,
    svc: only,
    ...more,
  };
  const ways = [
    { simulator: { echo: true } },
    { stream: true, simulator: { echo: true } },
    { simulator: { status: 400, error_message: `You said: ${text}` } },
    { stream: true, simulator: { echo: true, fault: "error_mid", error_message: `You said: ${text}` } },
    { stream: true, simulator: { echo: true, fault: "reset_mid", after: 4 } },
    { simulator: { status: 500, error_message: text } },
    { max_tokens: 1e9 },
  ];
  for (const way of ways) await gateway.chat({ ...body, ...way }, { key });
  const leave = new AbortController();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, stream: true, simulator: { echo: true, gap_ms: 20 } }),
    signal: leave.signal,
  });
  await response.body?.getReader().read();
  leave.abort();
  await idle(gateway);
}

/** Files under the data folder that hold the text. The engine renames and merges files meanwhile: then all are read again. */
function filesWith(text: string): string[] {
  const needle = Buffer.from(text);
  for (let tries = 1; ; tries++) {
    try {
      return readdirSync(dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((file) => readFileSync(file).includes(needle))
        .map((file) => relative(dataDir, file));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === 10) throw error;
    }
  }
}

/** Every row of both tables, as text. */
async function clickhouse(): Promise<string> {
  const { url, username, password } = JSON.parse(readFileSync(join(dataDir, "clickhouse.json"), "utf8"));
  const rows = await Promise.all(
    ["requests", "payloads"].map(async (table) => {
      const sql = `SELECT * FROM weir.${table} FORMAT JSONEachRow`;
      const response = await fetch(`${url}/?query=${encodeURIComponent(sql)}`, {
        headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` },
      });
      expect(response.status).toBe(200);
      return await response.text();
    }),
  );
  return rows.join("\n");
}

const recordsOf = (key: string) =>
  allRecords({ call: (method, path, options) => gateway.call(method, path, { key, ...options }) });

const marker = (name: string): string => `marker-${name}-${randomBytes(12).toString("hex")}`;

describe("payloads", () => {
  test.each([
    ["metadata", {}, "off"],
    ["off", {}, "off"],
    ["zdr", {}, "zdr"],
    ["on", { svc: { route: { providers: { only: ["guarded"] }, require: { zdr: true } } } }, "zdr"],
  ] as const)("of an org with logging %s, asking for %j, are nowhere", async (org, more, state) => {
    const text = marker(org);
    await callAllWays(orgs[org], text, more);
    // At once, while records are on their way, and again when they are all in.
    expect(filesWith(text)).toEqual([]);
    const records = await recordsOf(orgs[org]);
    expect(records.size).toBeGreaterThan(7);
    for (const id of records.keys()) {
      const { json } = await gateway.call("GET", `/v1/requests/${id}`, { key: orgs[org] });
      expect(["off", state]).toContain(json.payload_state);
      expect(JSON.stringify(json)).not.toContain(text);
    }
    expect(filesWith(text)).toEqual([]);
    expect((await clickhouse()).includes(text)).toBe(false);
    expect(log.join("\n")).not.toContain(text);
  });

  test("with logging on are there, without what the presets find; after a stop the raw text is nowhere", async () => {
    const text = marker("kept");
    await callAllWays(orgs.on, `${text} my key is ${CALLER_SECRET}, my card ${CARD}.`);
    const records = await recordsOf(orgs.on);
    const kept = [...records.values()].find((r) => r.status === "ok" && r.cost_micro > 0);
    const { json } = await gateway.call("GET", `/v1/requests/${kept?.request_id}`, { key: orgs.on });
    const shown = JSON.stringify([json.request, json.response]);
    expect(json.payload_state).toBe("available");
    expect(shown).toContain(text);
    expect(shown).toContain("[REDACTED:api_key]");
    expect(shown).toContain("[REDACTED:card]");
    const stored = await clickhouse();
    expect(stored.includes(text)).toBe(true);
    for (const secret of [CALLER_SECRET, CARD]) {
      expect(shown).not.toContain(secret);
      expect(stored.includes(secret)).toBe(false);
      expect(log.join("\n")).not.toContain(secret);
    }
    // The journal holds rows as they came until it goes; this also shows that the search finds what is there.
    expect(filesWith(CALLER_SECRET)).toEqual([expect.stringMatching(/^journal\//)]);
    await gateway.stop();
    expect(filesWith(CALLER_SECRET)).toEqual([]);
    expect(filesWith(CARD)).toEqual([]);
    gateway = await testGateway(options);
  });
});

test("T61: after errors of every kind no key is in an answer, a log line or a file", async () => {
  const answers: string[] = [];
  const chat = async (
    body: Record<string, unknown>,
    options: { key?: string | null; headers?: object } = {},
  ) => {
    const { text, headers } = await gateway.chat({ model: "test/model", ...body }, options);
    answers.push(text, JSON.stringify([...headers]));
  };
  const { json: revoked } = await gateway.call("POST", "/v1/keys", { body: { name: "to be revoked" } });
  await gateway.call("DELETE", `/v1/keys/${revoked.id}`);
  for (const at of FAULTS.keys()) {
    const svc = { route: { providers: { only: [`fault-${at}`] } } };
    for (const stream of [false, true]) await chat({ svc, stream }, { headers: { "x-svc-debug": "1" } });
  }
  await chat({ model: `no/${revoked.secret}` });
  await chat({ messages: "none" });
  for (const key of [revoked.secret, `${gateway.liveKey.slice(0, -1)}!`, PROVIDER_KEY, null])
    await chat({}, { key });
  await gateway.call("GET", `/v1/requests?cursor=${gateway.liveKey}`);
  await idle(gateway);
  const records = await allRecords(gateway);
  for (const id of records.keys()) answers.push((await gateway.call("GET", `/v1/requests/${id}`)).text);
  const stored = await clickhouse();
  // The upstream did get the credential: it is the one place for it.
  expect(gateway.simulator.calls.some((c) => c.headers.authorization === bearer)).toBe(true);

  expect(answers.length).toBeGreaterThan(60);
  for (const secret of [PROVIDER_KEY, gateway.liveKey, gateway.testKey]) {
    expect(answers.join("\n")).not.toContain(secret);
    expect(log.join("\n")).not.toContain(secret);
    expect(stored.includes(secret)).toBe(false);
    expect(filesWith(secret).filter((file) => !file.startsWith("first-"))).toEqual([]);
  }
  expect(log.join("\n")).not.toMatch(/bearer/i);
});
