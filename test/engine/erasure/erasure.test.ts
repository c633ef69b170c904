/**
 * An org's end: after the due date no byte under the data folder tells of it, the embedded ClickHouse's files included, while
 * money is as it was, and so is everything of another org and of people who are in both.
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openStore } from "../../../src/store/store.ts";
import { joinAt, type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { amount } from "../../support/effort.ts";
import {
  echoing,
  Markers,
  ok,
  plantInAccount,
  plantInCalls,
  plantInDirectory,
  plantInMoney,
  plantInQuote,
  plantInWebhooks,
} from "../../support/erasure/planting.ts";
import { type GatewayOptions, removeFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { SmtpStandIn } from "../../support/mail/smtp-server.ts";
import { recorded } from "../../support/observations.ts";
import { type Directory, directoryAt, directoryOf, eq } from "../../support/scim/scim.fixtures.ts";
import { until } from "../../support/wait.ts";
import { type Receiver, startReceiver } from "../../support/webhooks/receiver.ts";

const DAY = 86_400_000;
const trueNow = Date.now.bind(Date);
let lieMs = 0;
let folder: string;
let gateway: TestGateway;
let isRunning = false;
let receiver: Receiver;
const smtp = new SmtpStandIn();
/** Markers of the org that is erased, and of one that stays. */
const [ours, theirs] = [new Markers(), new Markers()];

const dataDir = () => join(folder, "data");

async function start(options: GatewayOptions = {}): Promise<void> {
  // Nobody sets its variable: only an org's own key would reach it.
  const endpoints = [{ provider: "own", credentialEnv: "ERASURE_TEST_NEVER_SET", isReal: true }];
  const settings = { webhooks: { allow: ["127.0.0.0/8"] } };
  gateway = await testGateway({ folder, engine: true, endpoints, settings, ...options });
  isRunning = true;
}
async function stop(): Promise<void> {
  isRunning = false;
  await gateway.stop();
}

beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
  folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  receiver = await startReceiver();
  echoing(receiver);
  await smtp.listen();
  // Never: each mail is put off.
  smtp.answers.MAIL = Array.from({ length: 1000 }, () => "451 later");
  await start();
});
afterAll(async () => {
  vi.restoreAllMocks();
  if (isRunning) await stop();
  await receiver.close();
  await smtp.close();
  removeFolder(folder);
});

/** The answer to one statement, as the engine's own port gives it. */
async function clickhouse(sql: string): Promise<string> {
  const { url, username, password } = JSON.parse(readFileSync(join(dataDir(), "clickhouse.json"), "utf8"));
  const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` };
  const response = await fetch(`${url}/?query=${encodeURIComponent(sql)}`, { headers });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return text;
}

const linesOf = async (sql: string): Promise<string[]> =>
  (await clickhouse(sql)).split("\n").filter((line) => line !== "");

/** On the disk, those included that queries no longer read. */
const partsNow = () =>
  linesOf(
    `SELECT concat(table, '/', name) FROM system.parts WHERE database = 'weir'
     AND (table IN ('payloads', 'requests') OR startsWith(table, 'usage_tags_'))`,
  );

/** Whether a text is in a row of ClickHouse, in any table that stores rows: its own logs included, if it had any. */
async function isInClickHouse(): Promise<(text: string | undefined) => boolean> {
  const tables = await linesOf(
    `SELECT concat('\`', database, '\`.\`', name, '\`') FROM system.tables
     WHERE has_own_data AND (database != 'system' OR endsWith(name, '_log')) AND NOT is_temporary`,
  );
  expect(tables.length).toBeGreaterThan(4);
  const rows = await Promise.all(
    tables.map((table) => clickhouse(`SELECT * FROM ${table} FORMAT JSONEachRow`)),
  );
  return (text = "none") => rows.some((answer) => answer.includes(text));
}

/** What ClickHouse says of the cost and the tokens of an org's calls. */
const totalsOf = async (orgId: string): Promise<string[]> => [
  await clickhouse(
    `SELECT model, project_id, key_id, sum(requests) AS n, sum(ok), sum(errors), sum(input_tokens), sum(output_tokens),
     sum(cost_micro), quantilesTDigestMerge(0.5, 0.95, 0.99)(duration) FROM weir.usage_hourly WHERE org_id = '${orgId}'
     GROUP BY model, project_id, key_id ORDER BY model, project_id, key_id`,
  ),
  await clickhouse(
    `SELECT request_id, ts, status, model, cost_micro, charged, input_tokens, output_tokens, duration_ms, cost_lines.micro_usd
     FROM weir.requests WHERE org_id = '${orgId}' ORDER BY request_id`,
  ),
];

/** Every row of money: ledger, spend of budgets. Read from the folder of a gateway that does not run. */
async function money(): Promise<Record<string, unknown[]>> {
  const store = openStore(dataDir());
  const tables = ["ledger", "ledger.references", "ledger.kinds", "spend"];
  const rows = Object.fromEntries(tables.map((name) => [name, [...store.table(name).range()]]));
  await store.close();
  return rows;
}

/** All that an org and its people can put somewhere, and what the gateway keeps when it cannot send or hand it on. */
async function plant(owner: SignedInPerson, org: string, key: string, markers: Markers): Promise<Directory> {
  const asOwner: typeof owner.call = (method, path, options) => owner.call(method, path, { org, ...options });
  await plantInWebhooks(asOwner, receiver, markers);
  await plantInMoney(owner, org, markers);
  await plantInAccount(owner, org, markers);
  await plantInQuote(owner, org);
  const directory = await directoryOf(gateway.url, owner, org);
  await plantInDirectory(directory, markers);
  // Seven markers a round, beside about sixty of the account: more than seventy in `npm test`, 157 in a thorough run.
  await plantInCalls(gateway, { rounds: amount(14, 2), key, markers });
  await recorded(gateway);
  const asked = await ok(asOwner("POST", `/v1/orgs/${org}/export`));
  const path = `/v1/orgs/${org}/exports/${asked.json.id}`;
  await until("the export is there", async () => (await asOwner("GET", path)).json.status === "ready");
  return directory;
}

/** The other org's markers in what the data folder holds for good, but for mails that hold the erased org's, too. */
function kept(): string[] {
  const shared = new Set(ours.in(dataDir()).map((line) => line.split(" in ")[1]));
  return theirs.in(dataDir()).filter((line) => {
    const file = line.split(" in ")[1] ?? "";
    return /^(weir\.lmdb|identity)/.test(file) || (file.startsWith("mail/") && !shared.has(file));
  });
}

/** Another org, whose owner is a member of the first one too. */
async function otherOrg(owner: SignedInPerson) {
  const identity = { email: `${theirs.next("both")}@example.com`, name: theirs.next("bothname") };
  await ok(owner.call("POST", "/v1/orgs/first/members", { body: { email: identity.email } }));
  const both = await joinAt(gateway.url, identity);
  const body = { slug: "other", name: theirs.next("othername"), billing_country: "IN" };
  const { id } = (await ok(both.call("POST", "/v1/orgs", { body }))).json;
  const granted = { amount_micro_usd: 5_000_000, reason: "a test", idempotency_key: "other" };
  const made = await gateway.call("POST", `/v1/operator/orgs/${id}/grant`, {
    key: operatorKey(),
    body: granted,
  });
  expect(made.status, made.text).toBe(201);
  const kept = { data_policy: { retention_days: 90 } };
  await ok(both.call("PATCH", "/v1/orgs/other", { org: "other", body: kept }));
  const project = await ok(
    both.call("POST", "/v1/projects", { org: "other", body: { slug: "main", name: "Main" } }),
  );
  const keyBody = { name: theirs.next("otherkey"), project_id: project.json.id };
  const key = await ok(both.call("POST", "/v1/keys", { org: "other", body: keyBody }));
  return { both, id, identity, key: key.json.secret };
}

const operatorKey = () => readFileSync(join(dataDir(), "operator-key"), "utf8").trim();
const notIn = (texts: readonly string[], lines: readonly string[]) =>
  texts.filter((text) => !lines.some((line) => line.startsWith(`${text} in `)));

test("after the due date no byte tells of the org; money, another org and its people are as they were", async () => {
  const me = { email: `${ours.next("owner")}@example.com`, name: ours.next("ownername") };
  let owner = await signInAt(gateway.url, me);
  const other = await otherOrg(owner);
  const { token } = await plant(owner, "first", gateway.liveKey, ours);
  await plant(other.both, "other", other.key, theirs);
  await until("mails are written", () => ours.in(join(dataDir(), "mail")).length > 0);
  await stop();

  // Mails that wait for their server, in the rows of their jobs.
  await start({ env: { SMTP_URL: `smtp://127.0.0.1:${smtp.port}` } });
  owner = await signInAt(gateway.url, me);
  for (const [person, org, markers] of [
    [owner, "first", ours],
    [await signInAt(gateway.url, other.identity), "other", theirs],
  ] as const) {
    const email = `${markers.next("waiting")}@example.com`;
    await ok(person.call("POST", `/v1/orgs/${org}/members`, { org, body: { email } }));
  }
  const { id } = (await owner.call("GET", "/v1/orgs/first")).json;
  const asked = await owner.call("POST", "/v1/orgs/first/erasure");
  expect(asked.json.erasure_due_at).toBeDefined();
  // ClickHouse has started anew with the gateway.
  await recorded(gateway);
  // The search finds what is there.
  expect([notIn(ours.planted, ours.in(dataDir())), notIn(theirs.planted, theirs.in(dataDir()))]).toEqual([
    [],
    [],
  ]);
  const partsBefore = await partsNow();
  expect(partsBefore.length).toBeGreaterThan(0);
  const inBefore = await isInClickHouse();
  expect(ours.planted.filter((text) => text.startsWith("zqprompt") && !inBefore(text))).toEqual([]);
  const totals = [await totalsOf(id), await totalsOf(other.id)];
  await stop();
  const before = await money();
  for (const rows of Object.values(before)) expect(rows.length).toBeGreaterThan(0);
  const keptBefore = kept();
  expect(keptBefore.filter((line) => line.includes(" in mail/")).length).toBeGreaterThan(0);

  lieMs = 29 * DAY;
  await start({ env: { SMTP_URL: `smtp://127.0.0.1:${smtp.port}` } });
  const seen = () => gateway.call("GET", `/v1/operator/orgs/${id}`, { key: operatorKey() });
  expect((await seen()).json.status).toBe("active");
  lieMs = 30 * DAY + 60_000;
  // The mail server never answers, so that the last mail waits with the others, for an hour.
  await until("the erasure has begun", async () => (await seen()).json.status === "closed");
  expect((await seen()).json.name).not.toBe("");
  lieMs += 3_600_000;
  await until("the org is erased", async () => (await seen()).json.name === "");
  expect((await seen()).json).toMatchObject({ status: "closed", members: 0, projects: 0, legal_name: "" });
  expect((await gateway.chat()).status).toBe(401);
  // Whoever provisions the org does not know that it is gone.
  const asks = `/Users?${eq("userName", `${ours.next("provisioned")}@example.com`)}`;
  expect((await directoryAt(gateway.url, token).call("GET", asks)).status).toBe(401);
  const inAfter = await isInClickHouse();
  expect(ours.planted.filter(inAfter)).toEqual([]);
  expect(theirs.planted.filter((text) => inBefore(text) && !inAfter(text))).toEqual([]);
  const partsAfter = await partsNow();
  expect(partsBefore.filter((part) => partsAfter.includes(part))).toEqual([]);
  expect([await totalsOf(id), await totalsOf(other.id)]).toEqual(totals);
  await stop();
  expect(ours.in(dataDir())).toEqual([]);
  expect(await money()).toEqual(before);
  const keptAfter = kept();
  expect(keptBefore.filter((line) => !keptAfter.includes(line))).toEqual([]);
});
