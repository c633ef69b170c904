/**
 * Why a call was refused or failed, read back by its id: what its client heard, for each kind of reason, whole and streamed, before the
 * record is in ClickHouse and after. Nothing that may quote is kept of orgs that keep no texts; what is kept is redacted.
 */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, seededFolder, sseData, type TestGateway, testGateway } from "../../support/gateway.ts";
import { addOrgs } from "../../support/money/orgs.ts";
import { recorded } from "../../support/observations.ts";

let folder: string;
let gateway: TestGateway;
/** Org or reason → secret of a key. */
const keys: Record<string, string> = {};

const start = (engine: boolean) =>
  testGateway({
    engine,
    folder,
    // Refusals rest what they come from, so each manner of asking has an endpoint of its own for them.
    endpoints: [{ provider: "one" }, ...[false, true].map(saturated)],
  });
const fullModel = (stream: boolean) => `test/full-${stream}`;
const saturated = (stream: boolean) => ({
  provider: `full-${stream}`,
  model: fullModel(stream),
  instruction: { status: 429, error_message: "Slow down please." },
});

beforeAll(async () => {
  folder = await seededFolder(() => {});
  const redact = { presets: ["email", "api_key"], patterns: [] };
  Object.assign(
    keys,
    await addOrgs(folder, {
      poor: { creditMicroUsd: 3 },
      quiet: { creditMicroUsd: 1_000_000, dataPolicy: { logging: "off" } },
      redacting: { creditMicroUsd: 1_000_000, dataPolicy: { redact } },
    }),
  );
  gateway = await start(false);
  const made = async (name: string, body: object) => {
    const { status, json } = await gateway.call("POST", "/v1/keys", { body: { name, ...body } });
    expect(status).toBe(201);
    keys[name] = json.secret;
  };
  await made("rpm", { limits: { rpm: 1 } });
  await made("tpm", { limits: { tpm: 10 } });
  await made("budget", { budget: { daily_micro: 2, hard: true } });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const asked = (content: string) => ({ messages: [{ role: "user", content }] });
const refusing = (status: number, message: string, code = "") =>
  asked(`[[sim status=${status} error_message="${message}" error_code=${code || "none"}]]`);

interface Told {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly retry_after_ms?: number;
  readonly details?: object;
}

/** The error as the client got it: of the body, or of the event that ended the stream. */
function toldIn(answer: Answer): Told {
  if (answer.json?.error !== undefined) return answer.json.error;
  return sseData(answer.text)
    .map((event) => (event as { error?: Told }).error)
    .find((error) => error !== undefined) as Told;
}

interface Refused {
  readonly key?: string;
  readonly body: Record<string, unknown>;
  readonly status: number;
  readonly code: string;
  /** What the recorded error has beside what the client was told. */
  readonly more?: object;
}

const REFUSED: Readonly<Record<string, Refused>> = {
  "the key's requests a minute": { key: "rpm", body: {}, status: 429, code: "rpm" },
  "the key's tokens a minute": { key: "tpm", body: { max_tokens: 20 }, status: 429, code: "tpm" },
  "a hard budget": { key: "budget", body: { max_tokens: 400 }, status: 402, code: "budget_exceeded" },
  "too little credit": { key: "poor", body: {}, status: 402, code: "insufficient_credits" },
  "no endpoint": {
    body: { model: "test/model", svc: { route: { require: { regions: ["mars"] } } } },
    status: 404,
    code: "no_endpoint",
  },
  "an unknown model": { body: { model: "weir/nope" }, status: 404, code: "model_not_found" },
  "a wrong value": { body: { messages: [] }, status: 400, code: "invalid_value" },
  "a provider that refuses the request": {
    body: refusing(400, "The image has no legs."),
    status: 400,
    code: "upstream_rejected",
    more: { upstream: { outcome: "http_error", error_class: "client", http_status: 400 } },
  },
  "a provider that is saturated": {
    body: { model: "saturated" },
    status: 429,
    code: "upstream_capacity",
    more: { upstream: { outcome: "rate_limited", error_class: "capacity", http_status: 429 } },
  },
  "a provider that fails": {
    body: asked("[[sim status=500]]"),
    status: 502,
    code: "upstream_error",
    more: { upstream: { outcome: "http_error", error_class: "server", http_status: 500 } },
  },
};

const errorsOf = async (id: string, key?: string) => {
  const options = key === undefined ? {} : { key };
  const generation = await gateway.call("GET", `/v1/generation/${id}`, options);
  const detail = await gateway.call("GET", `/v1/requests/${id}`, options);
  expect([generation.status, detail.status]).toEqual([200, 200]);
  expect(generation.json.error).toEqual(detail.json.error);
  return { error: detail.json.error, status: detail.json.status };
};

const idOf = ({ headers }: Answer): string => headers.get("x-svc-request-id") ?? "";

/** Id → what was recorded of it while ClickHouse was away, and the key that reads it. */
const seen = new Map<string, { readonly error: unknown; readonly status: string; readonly key?: string }>();

async function noted(id: string, key?: string) {
  const found = await errorsOf(id, key);
  seen.set(id, { ...found, ...(key !== undefined && { key }) });
  return found;
}

describe.each([false, true])("a call, streamed: %s", (stream) => {
  test.each(Object.entries(REFUSED))("refused or failed by %s says so as it was told", async (_, call) => {
    const key = call.key === undefined ? undefined : keys[call.key];
    const options = key === undefined ? {} : { key };
    const model = call.body.model === "saturated" ? { model: fullModel(stream) } : {};
    const ask = () => gateway.chat({ stream, ...call.body, ...model }, options);
    if (call.code === "rpm") await ask();
    const answer = await ask();
    const told = toldIn(answer);
    expect([answer.status, told.code]).toEqual([call.status, call.code]);
    // Keys of the first org are read by its first key; others by their own.
    const reader = call.key === "poor" ? key : undefined;
    const { error } = await noted(idOf(answer), reader);
    const { request_id: _id, ...said } = told as Told & { request_id: string };
    expect(error).toMatchObject({ status: call.status, ...said, ...call.more });
    expect("upstream" in error).toBe(call.more !== undefined);
  });

  test("that was answered has no error", async () => {
    const answer = await gateway.chat({ stream });
    expect((await noted(idOf(answer))).error).toBeNull();
  });

  test("of a policy that forbids it says the policy's words", async () => {
    const yaml = "version: 1\ndefaults:\n  deny: {message: Not today}\n";
    const made = await gateway.call("POST", "/v1/policies", { body: { name: `no-${stream}`, yaml } });
    expect(made.status).toBe(201);
    await gateway.call("POST", `/v1/policies/no-${stream}/activate`, { body: { version: 1 } });
    const answer = await gateway.chat({ stream });
    await gateway.call("POST", `/v1/policies/no-${stream}/deactivate`, { body: {} });
    expect((await noted(idOf(answer))).error).toEqual({
      type: "permission_denied",
      code: "denied_by_policy",
      message: "Not today",
      status: 403,
      param: null,
    });
  });

  test("of an org that redacts has nothing that its rules redact", async () => {
    const key = keys.redacting ?? "";
    const options = { key };
    const words = "ada@example.com may not see this";
    const byProvider = await gateway.chat({ stream, ...refusing(400, words) }, options);
    const byGateway = await gateway.chat({ stream, model: "weir/ada@example.com" }, options);
    for (const answer of [byProvider, byGateway]) {
      expect(toldIn(answer).message).toContain("ada@example.com");
      const { error } = await noted(idOf(answer), key);
      expect(error.message).toContain("[REDACTED:email]");
      expect(JSON.stringify(error)).not.toContain("ada@");
    }
  });

  test("of an org that keeps no texts has figures, and no words that may quote the request", async () => {
    const key = keys.quiet ?? "";
    const options = { key };
    const byProvider = await gateway.chat({ stream, ...refusing(400, "I heard: my secret") }, options);
    expect(toldIn(byProvider).message).toContain("my secret");
    const { error } = await noted(idOf(byProvider), key);
    expect(error).toMatchObject({
      code: "upstream_rejected",
      type: "invalid_request",
      status: 400,
      message: null,
    });
    expect(JSON.stringify(error)).not.toContain("secret");
    const none = await gateway.chat(
      { stream, model: "test/model", svc: { route: { providers: { only: ["x"] } } } },
      options,
    );
    const { message, details } = toldIn(none);
    expect((await noted(idOf(none), key)).error).toMatchObject({ code: "no_endpoint", message, details });
  });
});

test("words that may quote the request are for those who may read its payload", async () => {
  const project = await gateway.call("POST", "/v1/projects", { body: { slug: "other", name: "Other" } });
  const body = { name: "elsewhere", project_id: project.json.id, scopes: ["read:usage"] };
  const made = await gateway.call("POST", "/v1/keys", { body });
  expect(made.status).toBe(201);
  const byProvider = await gateway.chat(refusing(400, "I heard: my secret"));
  const byGateway = await gateway.chat({ model: "weir/my-secret" });
  for (const answer of [byProvider, byGateway]) {
    expect(toldIn(answer).message).toContain("secret");
    const { error } = await noted(idOf(answer), made.json.secret);
    expect(error).toMatchObject({ code: toldIn(answer).code, status: answer.status, message: null });
    expect(JSON.stringify(error)).not.toContain("secret");
  }
  const unreachable = await gateway.chat({ svc: { route: { require: { regions: ["mars"] } } } });
  const { error } = await noted(idOf(unreachable), made.json.secret);
  expect(error.message).toBe(toldIn(unreachable).message);
});

test("a stream that breaks says what its last event said, with the status of the error", async () => {
  const answer = await gateway.chat({ stream: true, ...asked("Break [[sim fault=reset_mid after=4]]") });
  const told = toldIn(answer);
  const { error, status } = await noted(idOf(answer));
  expect([answer.status, status]).toEqual([200, "error"]);
  expect(error).toMatchObject({ code: told.code, message: told.message, status: 502 });
});

test("another org's call stays not found", async () => {
  const [id] = [...seen.keys()];
  const { status } = await gateway.call("GET", `/v1/generation/${id}`, { key: keys.quiet ?? "" });
  expect(status).toBe(404);
});

test("all of it is the same once the rows are in ClickHouse", async () => {
  await gateway.stop();
  gateway = await start(true);
  await recorded(gateway);
  expect(seen.size).toBeGreaterThan(20);
  for (const [id, { key, ...found }] of seen) expect(await errorsOf(id, key)).toEqual(found);
});
