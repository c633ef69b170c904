/** A cell that hears Redis late, beside one at which something is changed: what it does not know yet, it does not answer. */
import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newSecret } from "../../../src/account/secret.ts";
import { type FaultProxy, startFaultProxy } from "../../support/cells/fault-proxy.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";
import { rest } from "../../support/pace.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
const UNLIMITED = { rpm: 0, tpm: 0, concurrency: 0, keys: 1000, projects: 10, auto_approve: 1 };
let gateway: TestGateway;
/** Before the second cell alone. */
let proxy: FaultProxy;
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({
    cells: 2,
    plans: [{ id: "local", name: "Local", limits: UNLIMITED }],
    async between(redis) {
      proxy = await startFaultProxy(redis.url);
      return [redis.url, proxy.url];
    },
  });
});
afterAll(async () => {
  proxy?.resume();
  proxy?.letGo();
  await gateway?.stop();
  await proxy?.close();
});

interface Asked {
  readonly key?: string;
  readonly cookie?: string;
  readonly body?: object;
  /** So many bytes of white space follow the body. */
  readonly padding?: number;
}

async function ask(
  cell: 0 | 1,
  method: string,
  path: string,
  { key = gateway.liveKey, cookie, body, padding = 0 }: Asked = {},
) {
  const headers = {
    ...(cookie === undefined ? { authorization: `Bearer ${key}` } : { cookie }),
    ...(body && { "content-type": "application/json" }),
  };
  const sent = body && { body: JSON.stringify(body) + " ".repeat(padding) };
  const url = `${gateway.cellUrls?.[cell]}${path}`;
  const answer = await httpCall(method, url, { headers, ...sent, withinMs: 20_000 });
  if (answer === undefined) throw new Error(`no answer to ${method} ${path}`);
  return { ...answer, json: answer.text.startsWith("{") ? JSON.parse(answer.text) : {} };
}

async function newKey(): Promise<{ id: string; secret: string }> {
  const scopes = ["inference", "read:usage", "read:keys", "write:keys"];
  return (await ask(0, "POST", "/v1/keys", { body: { name: "new", scopes } })).json;
}

const body = { model: "weir/sim-small", max_tokens: 2, messages: [{ role: "user", content: "Hi" }] };
type Way = readonly [what: string, call: (key: string) => ReturnType<typeof ask>];
/** Requests of the second cell. */
const BY_KEY: readonly Way[] = [
  ["a call", (key) => ask(1, "POST", "/v1/chat/completions", { key, body })],
  ["a long call", (key) => ask(1, "POST", "/v1/chat/completions", { key, body, padding: 900_000 })],
  ["a read", (key) => ask(1, "GET", "/v1/limits", { key })],
  ["a change", (key) => ask(1, "POST", "/v1/keys", { key, body: { name: "by the new one" } })],
];
const UNKNOWN: readonly Way[] = [
  ...BY_KEY,
  ["a session", () => ask(1, "GET", "/auth/me", { cookie: `svc_session=${"s".repeat(43)}` })],
  ["a directory", () => ask(1, "GET", "/scim/v2/Users", { key: newSecret("scim") })],
];

/** It is not answered before a rest that began behind it is over. */
async function waits(answer: Promise<unknown>, ms = 50): Promise<void> {
  expect(await Promise.race([answer.then(() => "is answered"), rest(ms).then(() => "waits")])).toBe("waits");
}

const series = async (name: string): Promise<number> => {
  const { text } = await ask(1, "GET", "/metrics");
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
};

/** The second cell hears Redis, and has what it hears of. */
const isWell = () =>
  until("the cell hears Redis again", async () => {
    const [ageS, lag] = [await series("weir_cell_beat_age_seconds"), await series("weir_cell_lag_versions")];
    return ageS < 0.5 && lag === 0;
  });

/** What was committed elsewhere does not reach the second cell until `proxy.letGo()`; it hears of it. */
async function holdStream(): Promise<void> {
  await isWell();
  proxy.hold("XREAD");
  await until("the stream is held", () => proxy.waiting() > 0);
}

test.skipIf(missing).each(BY_KEY)(
  "%s by a key that the cell does not know yet waits until it does",
  async (_, call) => {
    await isWell();
    proxy.pause();
    const { secret } = await newKey();
    const answered = call(secret);
    await waits(answered);
    proxy.resume();
    const { status, text } = await answered;
    expect([200, 201], text).toContain(status);
  },
);

test.skipIf(missing).each(UNKNOWN)(
  "%s with an unknown credential is 503 after a second where Redis cannot be asked, and 401 where it can",
  async (_, call) => {
    await isWell();
    const unknown = newSecret("live");
    await until("it is refused", async () => (await call(unknown)).status === 401);
    proxy.pause();
    const answered = call(unknown);
    await waits(answered, 900);
    // It comes although Redis cannot be asked yet.
    const { status, headers, text } = await answered;
    proxy.resume();
    expect([status, headers.get("retry-after")], text).toEqual([503, "1"]);
  },
);

test.skipIf(missing)(
  "a flood of unknown keys costs Redis a few looks a second, one of mistyped keys none",
  async () => {
    await isWell();
    const exchanges = () => series("weir_cell_exchange_seconds_count");
    const flood = async (keyOf: () => string) => {
      const [before, fromMs] = [await exchanges(), performance.now()];
      let refused = 0;
      while (performance.now() - fromMs < 2000) {
        const calls = Array.from({ length: 25 }, () => BY_KEY.map(([, call]) => call(keyOf()))).flat();
        for (const { status } of await Promise.all(calls)) expect([401, 503]).toContain(status);
        refused += calls.length;
      }
      const rate = (((await exchanges()) - before) / (performance.now() - fromMs)) * 1000;
      console.log(`${refused} keys were refused beside ${rate.toFixed(1)} exchanges a second`);
      return rate;
    };
    const mistyped = () => newSecret("live").replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    // Of beats and merged rows.
    const usual = await flood(mistyped);
    expect(usual).toBeLessThan(10);
    expect(await flood(() => newSecret("live"))).toBeLessThan(usual + 6);
  },
);

test.skipIf(missing)(
  "the body of an unknown sender is not waited for, and takes no memory then",
  async () => {
    await isWell();
    const call = request(`${gateway.cellUrls?.[1]}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${newSecret("live")}`, "content-length": "1000000" },
    });
    call.on("error", () => {});
    call.write(" ".repeat(300_000));
    const answer = await new Promise<IncomingMessage>((resolve) => call.on("response", resolve));
    expect(answer.statusCode).toBe(401);
    expect(await series("weir_bodies_bytes")).toBe(0);
    call.destroy();
  },
);

test.skipIf(missing)("a cell that lacks a revocation it heard of does not read by the key", async () => {
  const key = await newKey();
  await holdStream();
  expect((await ask(0, "DELETE", `/v1/keys/${key.id}`)).status).toBeLessThan(300);
  await until("the cell has heard of it", async () => (await series("weir_cell_lag_versions")) > 0);
  const refused = await ask(1, "GET", "/v1/limits", { key: key.secret });
  expect([refused.status, refused.json.error.code]).toEqual([503, "storage_unavailable"]);
  expect(refused.headers.get("retry-after")).toBe("1");
  const changed = await ask(1, "POST", "/v1/keys", { key: key.secret, body: { name: "too late" } });
  expect(changed.status).toBe(503);
  const waiting = ask(1, "GET", "/v1/limits", { key: key.secret });
  await waits(waiting);
  proxy.letGo();
  const { status, json } = await waiting;
  expect([status, json.error.code]).toEqual([401, "revoked_key"]);
});

test.skipIf(missing)(
  "a read behind an answered change shows it, at a cell that the change did not reach in time",
  async () => {
    const key = await newKey();
    await holdStream();
    const body = { name: "renamed" };
    expect((await ask(0, "PATCH", `/v1/keys/${key.id}`, { body })).status).toBe(200);
    const read = ask(1, "GET", `/v1/keys/${key.id}`);
    await waits(read);
    proxy.letGo();
    expect((await read).json.name).toBe("renamed");
  },
);

test.skipIf(missing)("a cell that is away from Redis for some seconds reads what it has", async () => {
  await isWell();
  proxy.refuse(true);
  await until("nobody waits for it", async () => (await series("weir_cell_beat_age_seconds")) > 2);
  const fromMs = performance.now();
  for (let n = 0; n < 20; n++) expect((await ask(1, "GET", "/v1/keys")).status).toBe(200);
  // A read that waits does so for a second.
  expect(performance.now() - fromMs).toBeLessThan(10_000);
  proxy.refuse(false);
  await isWell();
});
