/** An org's owner takes its data along: one zip of JSON lines, for seven days. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recorded } from "../../support/observations.ts";
import { unzipped } from "../../support/unzip.ts";
import { until } from "../../support/wait.ts";

const DAY = 86_400_000;
const trueNow = Date.now.bind(Date);
let lieMs = 0;
let gateway: TestGateway;
let owner: SignedInPerson;

beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
  gateway = await testGateway({ engine: true });
  owner = await signInAt(gateway.url, { email: "owner@example.com", name: "Olga Owner" });
});
afterAll(async () => {
  lieMs = 0;
  await gateway.stop();
  vi.restoreAllMocks();
});

const ready = (id: string) =>
  until(`${id} is ready`, async () => {
    const { json } = await owner.call("GET", `/v1/orgs/first/exports/${id}`);
    return json.status === "ready";
  });

async function download(url: string): Promise<Map<string, string>> {
  const response = await fetch(`${gateway.url}${url}`, { headers: { cookie: owner.cookie } });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/zip"]);
  return unzipped(Buffer.from(await response.arrayBuffer()));
}

const linesOf = (text: string | undefined) =>
  (text ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

describe("an export", () => {
  test("holds what the org has, without secrets, and is there for seven days", async () => {
    const said = { messages: [{ role: "user", content: "take me along" }], simulator: { echo: true } };
    for (let i = 0; i < 3; i++) expect((await gateway.chat(said)).status).toBe(200);
    // An export waits a second at most for records that are on their way.
    await recorded(gateway);
    const asked = await owner.call("POST", "/v1/orgs/first/export");
    expect([asked.status, asked.json.status, asked.json.url]).toEqual([202, "pending", undefined]);
    await ready(asked.json.id);
    const { json } = await owner.call("GET", `/v1/orgs/first/exports/${asked.json.id}`);
    const files = await download(json.url);
    expect([...files.keys()].sort()).toEqual(
      [
        "apps",
        "audit",
        "events",
        "invoices",
        "keys",
        "ledger",
        "members",
        "org",
        "policies",
        "projects",
        "requests",
        "tickets",
      ].map((name) => `${name}.jsonl`),
    );
    expect(linesOf(files.get("org.jsonl"))).toMatchObject([{ slug: "first" }]);
    expect(linesOf(files.get("members.jsonl"))).toMatchObject([{ name: "Olga Owner", role: "owner" }]);
    const requests = linesOf(files.get("requests.jsonl"));
    expect(requests).toHaveLength(3);
    for (const { request, response } of requests) expect(request + response).toContain("take me along");
    expect(linesOf(files.get("ledger.jsonl")).some(({ kind }) => kind === "settle")).toBe(true);
    expect([...files.values()].join("")).not.toContain(gateway.liveKey);
    const path = join(gateway.folder, "data/exports", `${json.id}.zip`);
    expect([statSync(path).mode & 0o777, statSync(path).size]).toEqual([0o600, json.bytes]);

    const again = await owner.call("POST", "/v1/orgs/first/export");
    expect([again.status, again.json.error.code]).toEqual([409, "state"]);
    lieMs = 7 * DAY + 60_000;
    owner = await signInAt(gateway.url, { email: "owner@example.com", name: "Olga Owner" });
    await until("the file is gone", () => !existsSync(path));
    await until("it is expired", async () => {
      const { data } = (await owner.call("GET", "/v1/orgs/first/exports")).json;
      return data[0].status === "expired" && data[0].url === undefined;
    });
    expect((await owner.call("GET", json.url)).status).toBe(409);
  });

  test("is for owners only, of their own org, and also of a closed one", async () => {
    expect((await gateway.call("POST", "/v1/orgs/first/export")).status).toBe(403);
    const other = await signInAt(gateway.url, { email: "other@example.com" });
    expect((await other.call("GET", "/v1/orgs/first/exports")).status).toBe(404);
    await owner.call("POST", "/v1/orgs/first/close", { body: { confirm: "first" } });
    const asked = await owner.call("POST", "/v1/orgs/first/export");
    expect(asked.status, asked.text).toBe(202);
    await ready(asked.json.id);
    expect((await download(`/v1/orgs/first/exports/${asked.json.id}/download`)).size).toBe(12);
    expect(readdirSync(join(gateway.folder, "data/exports"))).toEqual([`${asked.json.id}.zip`]);
  });

  test("of many megabytes arrives whole, though it is never in memory as a whole", async () => {
    const { data } = (await owner.call("GET", "/v1/orgs/first/exports")).json;
    const bytes = randomBytes(24 * 1024 * 1024);
    writeFileSync(join(gateway.folder, "data/exports", `${data[0].id}.zip`), bytes);
    const url = `${gateway.url}${data[0].url}`;
    const response = await fetch(url, { headers: { cookie: owner.cookie } });
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    const head = await fetch(url, { method: "HEAD", headers: { cookie: owner.cookie } });
    expect([head.status, head.headers.get("content-disposition")]).toEqual([
      200,
      `attachment; filename="${data[0].id}.zip"`,
    ]);
  });
});
