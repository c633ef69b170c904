/** S4: an org's exports together have a quota: a new one takes the place of the oldest, so that an org can always take its data along. */
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recorded } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

const DAY = 86_400_000;
const MOST = 60_000;
const trueNow = Date.now.bind(Date);
let lieMs = 0;
let gateway: TestGateway;

beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
  gateway = await testGateway({ engine: true, settings: { limits: { max_export_bytes: MOST } } });
});
afterAll(async () => {
  lieMs = 0;
  await gateway.stop();
  vi.restoreAllMocks();
});

async function exported() {
  const owner = await signInAt(gateway.url, { email: "owner@example.com", name: "Olga Owner" });
  const asked = await owner.call("POST", "/v1/orgs/first/export");
  expect(asked.status).toBe(202);
  const read = async (id: string) => (await owner.call("GET", `/v1/orgs/first/exports/${id}`)).json;
  await until("the export is ready", async () => (await read(asked.json.id)).status === "ready");
  return { id: asked.json.id as string, read };
}

test("S4: the oldest export ends where a new one needs its room, and not before", async () => {
  // Nothing that could be compressed.
  for (let i = 0; i < 20; i++)
    await gateway.chat({ messages: [{ role: "user", content: randomBytes(1000).toString("base64") }] });
  await recorded(gateway);
  const first = await exported();
  const { bytes } = await first.read(first.id);
  expect(bytes).toBeGreaterThan(MOST / 3);
  expect(bytes).toBeLessThan(MOST / 2);
  const sizes = async () => (await gateway.call("GET", "/v1/limits")).json.kept.exports;
  expect(await sizes()).toEqual({ bytes, max_bytes: MOST });

  lieMs += DAY + 60_000;
  const second = await exported();
  expect((await second.read(first.id)).status).toBe("ready");
  lieMs += DAY + 60_000;
  const third = await exported();
  await until("the oldest has ended", async () => (await third.read(first.id)).status === "expired");
  expect([(await third.read(second.id)).status, (await third.read(third.id)).status]).toEqual([
    "ready",
    "ready",
  ]);
  expect((await sizes()).bytes).toBeLessThanOrEqual(MOST);
  const files = readdirSync(join(gateway.folder, "data/exports"));
  expect(files.sort()).toEqual([`${second.id}.zip`, `${third.id}.zip`].sort());
});
