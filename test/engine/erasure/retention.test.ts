/** A shorter `retention_days`: older payloads are gone from answers at once, and from the disk with the next run of the job. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recorded } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

const DAY = 86_400_000;
const trueNow = Date.now.bind(Date);
let lieMs = 0;
let gateway: TestGateway;
let owner: SignedInPerson;

beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
  gateway = await testGateway({ engine: true });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
});
afterAll(async () => {
  await gateway.stop();
  vi.restoreAllMocks();
});

async function payloadsStored(): Promise<number> {
  const file = readFileSync(join(gateway.folder, "data/clickhouse.json"), "utf8");
  const { url, username, password } = JSON.parse(file);
  const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` };
  const sql = encodeURIComponent("SELECT count() FROM weir.payloads");
  return Number(await (await fetch(`${url}/?query=${sql}`, { headers })).text());
}

const stateOf = async (id: string) => (await gateway.call("GET", `/v1/requests/${id}`)).json.payload_state;
const call = async () => (await gateway.chat()).headers.get("x-svc-request-id") ?? "";

test("payloads older than a shortened retention are not shown, and are removed; younger ones stay", async () => {
  lieMs = -5 * DAY;
  const old = await call();
  await recorded(gateway);
  lieMs = 0;
  const young = await call();
  await recorded(gateway);
  expect([await stateOf(old), await stateOf(young), await payloadsStored()]).toEqual([
    "available",
    "available",
    2,
  ]);
  const body = { data_policy: { retention_days: 3 } };
  expect((await owner.call("PATCH", "/v1/orgs/first", { body })).status).toBe(200);
  expect([await stateOf(old), await stateOf(young)]).toEqual(["expired", "available"]);
  lieMs = DAY / 2 + 60_000;
  await until("the older payload is gone from ClickHouse", async () => (await payloadsStored()) === 1);
  expect([await stateOf(old), await stateOf(young)]).toEqual(["expired", "available"]);
});

test("with no days at all nothing is shown and nothing stays", async () => {
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const body = { data_policy: { retention_days: 0 } };
  expect((await owner.call("PATCH", "/v1/orgs/first", { body })).status).toBe(200);
  lieMs += DAY / 2 + 60_000;
  await until("no payload is left", async () => (await payloadsStored()) === 0);
});
