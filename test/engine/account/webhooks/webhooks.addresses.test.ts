/** What a tenant's webhook reaches of a running gateway, with its real engine, and what its deliveries show of it. */
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { newKey } from "../../../../src/account/key.ts";
import { newOrg } from "../../../../src/account/org.ts";
import { newProject } from "../../../../src/account/project.ts";
import { FIRST_KEY_SCOPES } from "../../../../src/account/scopes.ts";
import { newSecret } from "../../../../src/account/secret.ts";
import { NEWEST_SVC_VERSION } from "../../../../src/account/versions.ts";
import { systemClock, systemRandom } from "../../../../src/base/clock.ts";
import {
  closedPort,
  type GatewayOptions,
  removeFolder,
  seededFolder,
  type TestGateway,
  testGateway,
} from "../../../support/gateway.ts";
import { Browser } from "../../../support/simulator/identity.fixtures.ts";
import { until } from "../../../support/wait.ts";
import { answering, startReceiver } from "../../../support/webhooks/receiver.ts";

/** The second org of every folder here. */
const otherKey = newSecret("live", systemRandom);
let folder: string;
let gateway: TestGateway;
let engine: { readonly url: string; readonly username: string; readonly password: string };

/** A folder with two orgs. */
const twoOrgs = (): Promise<string> =>
  seededFolder((accounts) => {
    const nowMs = systemClock.now();
    const fields = { kind: "team", billingCountry: "US", planId: "local" } as const;
    const org = newOrg({ ...fields, slug: "other", name: "Other" }, nowMs);
    const owner = { orgId: org.id, environment: "live" } as const;
    const project = newProject({ ...owner, slug: "other", name: "Other" }, nowMs);
    accounts.addOrg(org);
    accounts.addProject(project);
    const key = {
      ...owner,
      projectId: project.id,
      name: "Other",
      scopes: FIRST_KEY_SCOPES,
      limits: {},
      budget: { dailyMicroUsd: null, hard: true },
      onDisconnect: "cancel" as const,
      svcVersion: NEWEST_SVC_VERSION,
      lifetimeMs: null,
      rotatedFrom: null,
    };
    accounts.addKey(newKey(key, otherKey, nowMs));
  });

beforeAll(async () => {
  folder = await twoOrgs();
  gateway = await testGateway({ folder, engine: true });
  const file = join(folder, "data/clickhouse.json");
  const read = () => {
    engine = JSON.parse(readFileSync(file, "utf8"));
    return engine.url !== undefined;
  };
  await until("the engine listens", () => {
    try {
      return read();
    } catch {
      return false;
    }
  });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});

async function another(options: Partial<GatewayOptions>): Promise<TestGateway> {
  const at = await twoOrgs();
  const opened = await testGateway({ engine: false, folder: at, ...options });
  onTestFinished(async () => {
    await opened.stop();
    removeFolder(at);
  });
  return opened;
}

interface As {
  readonly at?: TestGateway;
  readonly key?: string;
}

const create = (url: string, { at = gateway, key = at.liveKey }: As = {}) =>
  at.call("POST", "/v1/webhooks", { key, body: { url } });

/** The one delivery of a test that was sent to a new webhook, once it has ended. */
async function delivered(url: string, as: As = {}) {
  const { at = gateway, key = at.liveKey } = as;
  const made = await create(url, as);
  expect(made.status).toBe(201);
  return tested(made.json.id, { at, key });
}

async function tested(id: string, { at = gateway, key = at.liveKey }: As = {}) {
  await at.call("POST", `/v1/webhooks/${id}/test`, { key });
  let last: Record<string, unknown> = {};
  await until("the test has ended", async () => {
    const { json } = await at.call("GET", `/v1/webhooks/${id}/deliveries`, { key });
    last = json.data[0];
    return last.status !== "pending";
  });
  await at.call("DELETE", `/v1/webhooks/${id}`, { key });
  return last;
}

const REFUSED = [400, "invalid_value", "/url"];
const outcome = async (url: string, as: As = {}) => {
  const { status, json } = await create(url, as);
  return [status, json.error?.code, json.error?.param];
};

/** This machine, in every way that a URL may name it. */
const here = (): string[] => [
  "127.0.0.1",
  "localhost",
  "a.localhost",
  "127.1",
  "127.1.2.3",
  "0x7f000001",
  "0.0.0.0",
  "0",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  ...Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ scopeid }) => !scopeid)
    .map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
];

describe("S2: no webhook reaches a listener of the installation", () => {
  test("the engine's port is refused under every name of this machine, also where all is allowed", async () => {
    const { port } = new URL(engine.url);
    const sign = `user=${engine.username}&password=${engine.password}&query=SELECT+1`;
    for (const host of here())
      expect([host, ...(await outcome(`http://${host}:${port}/?${sign}`))]).toEqual([host, ...REFUSED]);
  });

  test("one that begins to listen after the URL was saved is refused when it is called", async () => {
    const { port } = new URL(gateway.url);
    // The identity provider tries this one first, when somebody signs in.
    const next = Number(port) + 1;
    const made = await create(`http://127.0.0.1:${next}/hook`);
    const away = await new Browser().visit(`${gateway.url}/auth/login`);
    if (Number(new URL(away.url).port) !== next) return;
    expect(made.status).toBe(201);
    expect(await tested(made.json.id)).toMatchObject({
      status: "failed",
      http_status: 0,
      response: "",
      error: expect.stringContaining("not allowed"),
    });
  });

  test.each([
    ["CLICKHOUSE_URL", "http://weir:secret@10.9.8.7:8123/weir", "https://10.9.8.7:8123/"],
    ["SMTP_URL", "smtp://10.9.8.7:2525", "https://10.9.8.7:2525/"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://10.9.8.7:4318", "https://10.9.8.7:4318/v1/traces"],
    ["FX_URL", "https://10.9.8.7:9443/rate", "https://10.9.8.7:9443/"],
    ["FX_URL", "https://[fd00::7]/rate", "https://[fd00::7]/"],
    ["SIMULATOR_URL", "http://127.0.0.1:9/", "http://127.0.0.1:9/"],
    ["SIMULATOR_URL", "http://127.0.0.2:9/", "http://localhost:9/"],
    ["SMTP_URL", "smtp://localhost:9", "http://[::1]:9/"],
  ])("what %s=%s names is refused, though its range is allowed", async (name, value, url) => {
    const allow = ["10.0.0.0/8", "fd00::/8", "127.0.0.0/8", "::1/128"];
    const wide = await another({ settings: { webhooks: { allow } }, env: { [name]: value } });
    expect(await outcome(url, { at: wide })).toEqual(REFUSED);
    // Another port of the same host, and another host with the same port.
    const other = new URL(url);
    other.port = "7777";
    expect((await create(other.href, { at: wide })).status).toBe(201);
    if (url.includes("//10.")) {
      const near = url.replace("10.9.8.7", "10.9.8.8");
      expect((await create(near, { at: wide })).status).toBe(201);
    }
  });
});

describe("S2: what answers from an address that is not public is not shown", () => {
  test("its body never is, its status is", async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    for (const status of [200, 404, 500]) {
      receiver.answer = answering(status, { "x-inner": "inner-header" }, "inner-body");
      const delivery = await delivered(receiver.url);
      expect(delivery).toMatchObject({ http_status: status, response: "" });
      expect(JSON.stringify(delivery)).not.toMatch(/inner-(body|header)/);
    }
  });

  test("a failure tells neither what it was nor how long it took", async () => {
    const silent = await startReceiver();
    onTestFinished(() => silent.close());
    silent.answer = (response) => void response.socket?.end("SSH-2.0-inner\r\n");
    const failures = [];
    for (const url of [silent.url, `http://127.0.0.1:${await closedPort()}/`]) {
      const { error, response, http_status, duration_ms } = await delivered(url);
      failures.push({ error, response, http_status, duration_ms });
    }
    expect(failures[0]).toEqual(failures[1]);
    expect(failures[0]).toMatchObject({ response: "", http_status: 0, duration_ms: 0 });
  });
});

describe("S2: loopback is for the first org of a gateway that only this machine reaches", () => {
  test("another org reaches no loopback there", async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    expect((await create(receiver.url)).status).toBe(201);
    for (const host of here()) {
      const refused = await outcome(`http://${host}:${receiver.port}/hook`, { key: otherKey });
      expect([host, ...refused]).toEqual([host, ...REFUSED]);
    }
    expect(receiver.received).toEqual([]);
  });

  test("not even the first org, where others reach the gateway", async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const open = await another({ env: { PUBLIC_URL: "https://gateway.example.com" } });
    expect(await outcome(receiver.url, { at: open })).toEqual(REFUSED);
  });

  test("webhooks.allow opens it to every org; listeners stay refused, and bodies are not shown", async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    receiver.answer = answering(200, {}, "inner-body");
    const allow = ["127.0.0.0/8"];
    const open = await another({
      settings: { webhooks: { allow } },
      env: { PUBLIC_URL: "https://gateway.example.com" },
    });
    for (const key of [otherKey, open.liveKey]) {
      const delivery = await delivered(receiver.url, { at: open, key });
      expect(delivery).toMatchObject({ status: "delivered", http_status: 200, response: "" });
      expect(await outcome(`${open.url}/hook`, { at: open, key })).toEqual(REFUSED);
    }
  });
});
