/**
 * An org's end: after the due date no byte under the data folder tells of it, the embedded ClickHouse's files included, while
 * money is as it was.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { openCredits } from "../../../src/credits/credits.ts";
import { openStore } from "../../../src/store/store.ts";
import { amount } from "../../support/effort.ts";
import { type SignedInPerson, signInAt } from "../console.fixtures.ts";
import { removeFolder, type TestGateway, testGateway, until } from "../fixtures.ts";
import { recorded } from "../observations.ts";

const DAY = 86_400_000;
const trueNow = Date.now.bind(Date);
let lieMs = 0;
let folder: string;
let gateway: TestGateway;
let isRunning = false;
const planted: string[] = [];

/** A text that occurs nowhere else; lower case, so that it may stand in addresses and slugs. */
function marker(kind: string): string {
  const text = `zq${kind}${randomBytes(9).toString("hex")}`;
  planted.push(text);
  return text;
}

async function start(): Promise<void> {
  gateway = await testGateway({ folder, engine: true });
  isRunning = true;
}
async function stop(): Promise<void> {
  isRunning = false;
  await gateway.stop();
}

beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
  folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  await start();
});
afterAll(async () => {
  vi.restoreAllMocks();
  if (isRunning) await stop();
  removeFolder(folder);
});

/** The markers that some file under the data folder holds, with the file. */
function found(): string[] {
  for (let tries = 1; ; tries++) {
    try {
      return readdirSync(join(folder, "data"), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .flatMap((file) => {
          const bytes = readFileSync(file);
          const at = relative(join(folder, "data"), file);
          return planted.filter((text) => bytes.includes(text)).map((text) => `${text} in ${at}`);
        });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === 10) throw error;
    }
  }
}

/** The answer to one statement, as the engine's own port gives it. */
async function clickhouse(sql: string): Promise<string> {
  const { url, username, password } = JSON.parse(readFileSync(join(folder, "data/clickhouse.json"), "utf8"));
  const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` };
  const response = await fetch(`${url}/?query=${encodeURIComponent(sql)}`, { headers });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return text;
}

/** On the disk, those included that queries no longer read. */
const PARTS =
  "SELECT concat(table, '/', name) FROM system.parts WHERE database = 'weir' AND table IN ('payloads', 'requests')";
const partsNow = async (): Promise<string[]> =>
  (await clickhouse(PARTS)).split("\n").filter((line) => line !== "");

/** Whether a text is in a row of ClickHouse. */
async function isInClickHouse(): Promise<(text: string | undefined) => boolean> {
  const tables = ["requests", "payloads", "usage_hourly", "attempts_hourly", "shadow_runs"];
  const rows = await Promise.all(
    tables.map((table) => clickhouse(`SELECT * FROM weir.${table} FORMAT JSONEachRow`)),
  );
  return (text = "none") => rows.some((answer) => answer.includes(text));
}

async function plantInAccount(owner: SignedInPerson): Promise<void> {
  const ok = async (answer: Promise<{ status: number; text: string }>) => {
    const { status, text } = await answer;
    expect([200, 201, 202], text).toContain(status);
  };
  const profile = {
    ...{ name: marker("orgname"), legal_name: marker("legal") },
    billing_email: `${marker("billing")}@example.com`,
    billing_address: { line1: marker("street"), city: marker("city"), postal_code: "10115" },
  };
  await ok(owner.call("PATCH", "/v1/orgs/first", { body: profile }));
  const invited = { email: `${marker("invited")}@example.com`, role: "member" };
  await ok(owner.call("POST", "/v1/orgs/first/members", { body: invited }));
  await ok(owner.call("POST", "/v1/projects", { body: { slug: marker("slug"), name: marker("project") } }));
  const { id: project_id } = (await owner.call("GET", "/v1/projects")).json.data[0];
  await ok(owner.call("POST", "/v1/keys", { body: { name: marker("keyname"), project_id } }));
  const ticket = { kind: "other", subject: marker("subject"), message: marker("ticket") };
  await ok(owner.call("POST", "/v1/tickets", { body: ticket }));
  const policy = { name: "mine", yaml: `# ${marker("policy")}\nversion: 1\nsort: price\n` };
  await ok(owner.call("POST", "/v1/policies", { body: policy }));
}

/** Prompts by all ways that keep something. */
async function plantInCalls(rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    const text = marker("prompt");
    const headers = { "idempotency-key": `key-${i}`, "user-agent": marker("agent") };
    const echo = { messages: [{ role: "user", content: text }], simulator: { echo: true } };
    const svc = { metadata: { tags: { who: marker("tag") } } };
    const answer = await gateway.chat({ ...echo, user: marker("user"), svc }, { headers });
    expect(answer.status, answer.text).toBe(200);
    const refused = { simulator: { status: 400, error_message: `You said: ${marker("refused")}` } };
    expect((await gateway.chat({ ...echo, ...refused })).status).toBe(400);
    const body = { model: "weir/sim-small", input: marker("response") };
    expect((await gateway.call("POST", "/v1/responses", { body })).status).toBe(200);
  }
}

/** What must stay: read from the folder of a gateway that does not run. */
async function moneyOf(orgId: string) {
  const store = openStore(join(folder, "data"));
  const { book } = openCredits({ store, clock: systemClock });
  const money = { balance: book.balance(orgId), entries: book.entries(orgId, { limit: 1000 }) };
  await store.close();
  return money;
}

const operatorKey = () => readFileSync(join(folder, "data/operator-key"), "utf8").trim();

test("after the due date no byte tells of the org, and its money is as it was", async () => {
  const owner = await signInAt(gateway.url, {
    email: `${marker("owner")}@example.com`,
    name: marker("ownername"),
  });
  await plantInAccount(owner);
  // Fifteen markers beside those of calls, six a round: more than twenty in `npm test`, a hundred in a thorough run.
  await plantInCalls(amount(18, 3));
  await recorded(gateway);
  const { id } = (await owner.call("GET", "/v1/orgs/first")).json;
  const asked = await owner.call("POST", "/v1/orgs/first/erasure");
  expect(asked.json.erasure_due_at).toBeDefined();
  // The search finds what is there.
  const before = found();
  const partsBefore = await partsNow();
  expect(partsBefore.length).toBeGreaterThan(0);
  expect(planted.filter((text) => !before.some((line) => line.startsWith(text)))).toEqual([]);
  expect(planted.filter((text) => text.startsWith("zqprompt"))[0]).toSatisfy(await isInClickHouse());
  await stop();
  const money = await moneyOf(id);
  expect(money.entries.length).toBeGreaterThan(1);

  lieMs = 29 * DAY;
  await start();
  const seen = () => gateway.call("GET", `/v1/operator/orgs/${id}`, { key: operatorKey() });
  expect((await seen()).json.status).toBe("active");
  lieMs = 30 * DAY + 60_000;
  await until("the org is erased", async () => (await seen()).json.name === "", 60_000);
  expect((await seen()).json).toMatchObject({ status: "closed", members: 0, projects: 0, legal_name: "" });
  expect((await gateway.chat()).status).toBe(401);
  // ClickHouse compresses its files, so its rows are asked too; no part of before the rewrite is left.
  expect(planted.filter(await isInClickHouse())).toEqual([]);
  const partsAfter = await partsNow();
  expect(partsBefore.filter((part) => partsAfter.includes(part))).toEqual([]);
  expect(found().filter((line) => line.includes(" in clickhouse"))).toEqual([]);
  await stop();
  expect(found()).toEqual([]);
  expect(await moneyOf(id)).toEqual(money);
}, 120_000);
