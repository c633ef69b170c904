/** Where a pending top-up is paid: told again to those who may pay, for as long as the payment service's page works. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/wait.ts";

const HALF_HOUR_MS = 1_800_000;

const trueNow = Date.now.bind(Date);
let lieMs = 0;
let gateway: TestGateway;
beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
  gateway = await testGateway();
});
afterEach(() => {
  lieMs = 0;
});
afterAll(async () => {
  vi.restoreAllMocks();
  await gateway.stop();
});

async function begun() {
  const { status, json } = await gateway.call("POST", "/v1/credits/topups", {
    body: { amount_minor: 2_500 },
  });
  expect(status).toBe(201);
  return { id: json.topup.id as string, url: json.checkout_url as string };
}

/** What `GET` tells of it: by its id, and in the list. */
async function told(id: string, key = gateway.liveKey): Promise<(string | undefined)[]> {
  const one = await gateway.call("GET", `/v1/credits/topups/${id}`, { key });
  const list = await gateway.call("GET", "/v1/credits/topups", { key });
  expect([one.status, list.status]).toEqual([200, 200]);
  const listed = list.json.data.find((row: { id: string }) => row.id === id);
  return [one.json.checkout_url, listed.checkout_url];
}

async function keyWith(scopes: readonly string[], environment = "live"): Promise<string> {
  const body = { name: scopes.join(), scopes, environment };
  const { status, json } = await gateway.call("POST", "/v1/keys", { body });
  expect(status).toBe(201);
  return json.secret;
}

test("is told until it is paid, and not to those who may only read", async () => {
  const { id, url } = await begun();
  expect(await told(id)).toEqual([url, url]);
  expect(await told(id, await keyWith(["read:billing", "write:billing"]))).toEqual([url, url]);
  expect(await told(id, await keyWith(["read:billing"]))).toEqual([undefined, undefined]);
  expect(await told(id, await keyWith(["read:billing", "write:billing"], "test"))).toEqual([
    undefined,
    undefined,
  ]);
  await fetch(url, { method: "POST", body: new URLSearchParams({ act: "pay" }), redirect: "manual" });
  const status = async () => (await gateway.call("GET", `/v1/credits/topups/${id}`)).json.status;
  await until("it is paid", async () => (await status()) === "paid");
  expect(await told(id)).toEqual([undefined, undefined]);
});

test("is told no more once the page's half hour is over", async () => {
  const { id, url } = await begun();
  lieMs = HALF_HOUR_MS - 60_000;
  expect(await told(id)).toEqual([url, url]);
  lieMs = HALF_HOUR_MS + 60_000;
  expect(await told(id)).toEqual([undefined, undefined]);
});
