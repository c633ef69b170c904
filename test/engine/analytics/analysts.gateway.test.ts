/** Users of the analytics database that people of an org make: what they read, and until when. */
import { ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { probeConfinement } from "../../../src/analytics/engine/confinement.ts";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recorded } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
let owner: SignedInPerson;
beforeAll(async () => {
  const { kind } = await probeConfinement("confined");
  const analysts = kind === "off" ? "unconfined" : "confined";
  gateway = await testGateway({ engine: true, settings: { analytics: { analysts } } });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  expect((await gateway.chat()).status).toBe(200);
  await recorded(gateway);
});
afterAll(() => gateway?.stop());

interface Made {
  readonly id: string;
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

async function make(body: object = {}): Promise<Made> {
  const { status, json, text } = await owner.call("POST", "/v1/analytics/users", {
    body: { name: "A dashboard", ...body },
  });
  expect(status, text).toBe(201);
  return json;
}

/** By ClickHouse's own client: the calls that the user sees, or the code of the refusal. */
async function calls({ url, username, password, database }: Made): Promise<number | string> {
  const client = createClient({
    url,
    username,
    password,
    database,
    log: { level: ClickHouseLogLevel.OFF },
  });
  try {
    const result = await client.query({ query: "SELECT count() AS n FROM requests", format: "JSONEachRow" });
    const [row] = await result.json<{ n: string }>();
    return Number(row?.n);
  } catch (error) {
    return /Code: (\d+)/.exec(String(error))?.[1] ?? String(error);
  } finally {
    await client.close();
  }
}

const REFUSED = "516";
const FIRST_MS = 3000;
/** For so long a user is let in at the most before its test fails. */
const LONGEST_MS = 32 * FIRST_MS;

test("logs in with what the answer said, and is refused once it is deleted", async () => {
  const user = await make();
  expect(await calls(user)).toBe(1);
  expect(await calls({ ...user, password: `${user.password}x` })).toBe(REFUSED);
  const { json } = await owner.call("GET", "/v1/analytics/users");
  expect(json.data.map((one: { id: string }) => one.id)).toContain(user.id);
  expect(JSON.stringify(json)).not.toContain(user.password);
  expect([json.url, json.database]).toEqual([user.url, user.database]);
  expect((await owner.call("DELETE", `/v1/analytics/users/${user.id}`)).status).toBe(204);
  await until("it is refused", async () => (await calls(user)) === REFUSED);
});

test("is refused from its expiry on", async () => {
  let user: Made;
  // Made again, with more time, where a late machine let it in only when its time was over.
  for (let forMs = FIRST_MS; ; forMs *= 2) {
    expect(forMs, "the user is not let in at all").toBeLessThanOrEqual(LONGEST_MS);
    user = await make({ expires_at: new Date(Date.now() + forMs).toISOString() });
    const seen = await calls(user);
    if (seen === 1) break;
    const seenMs = Date.now();
    expect(seen).toBe(REFUSED);
    expect(seenMs).toBeGreaterThanOrEqual(Date.parse((await find(user.id)).expires_at));
  }
  await until("it is refused", async () => (await calls(user)) === REFUSED);
  const refusedMs = Date.now();
  expect(refusedMs).toBeGreaterThanOrEqual(Date.parse((await find(user.id)).expires_at));
});

const find = async (id: string) =>
  (await owner.call("GET", "/v1/analytics/users")).json.data.find((one: { id: string }) => one.id === id);
