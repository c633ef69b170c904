/**
 * A gateway killed while it erases an org, at each act that it commits, at random, and with its ClickHouse alone; and while it writes
 * an export. The next start finishes what was begun: nothing is left of the org, everything of another one is there, and no file is
 * half written. WEIR_CRASH_SEED repeats a run's choices.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/store.ts";
import { signInAt } from "../../support/console.fixtures.ts";
import { compileDiskFaults } from "../../support/disk-faults.fixtures.ts";
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
import { removeFolder, testGateway } from "../../support/gateway.ts";
import { killEngine } from "../../support/kill-engine.ts";
import { recorded } from "../../support/observations.ts";
import { anyMoment } from "../../support/pace.ts";
import { directoryOf } from "../../support/scim/scim.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { unzipped } from "../../support/unzip.ts";
import { until } from "../../support/wait.ts";
import { type Receiver, startReceiver } from "../../support/webhooks/receiver.ts";

const ROUNDS = Number(process.env.WEIR_CRASH_ROUNDS ?? amount(6, 1));
const random = seededRandom(Number(process.env.WEIR_CRASH_SEED ?? 20_261_123));
const AHEAD_MS = 30 * 86_400_000 + 60_000;
const home = mkdtempSync(join(tmpdir(), "weir-crash-erasure-"));
const disk = compileDiskFaults(home);
const [ours, theirs] = [new Markers(), new Markers()];
const OWNER = { email: `${ours.next("owner")}@example.com`, name: ours.next("ownername") };
const endpoints = [{ provider: "own", credentialEnv: "ERASURE_TEST_NEVER_SET", isReal: true }];

const template = join(home, "template");
let orgId: string;
/** Folders of tables with personal data, below the data folder, with the parts that they had. */
const parts = new Map<string, readonly string[]>();
let theirRows: readonly string[] = [];
let receiver: Receiver;

/** Mutations are told by their statements, which hold the org's id. */
const partNames = (folder: string): string[] =>
  readdirSync(folder).filter(
    (name) => !/^(detached|deduplication_logs|format_version\.txt|mutation_\d+\.txt)$/.test(name),
  );

async function clickhouse(dataDir: string, sql: string): Promise<string> {
  const { url, username, password } = JSON.parse(readFileSync(join(dataDir, "clickhouse.json"), "utf8"));
  const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` };
  return await (await fetch(`${url}/?query=${encodeURIComponent(sql)}`, { headers })).text();
}

beforeAll(async () => {
  receiver = await startReceiver();
  echoing(receiver);
  const settings = { webhooks: { allow: ["127.0.0.0/8"] } };
  const gateway = await testGateway({ folder: template, engine: true, endpoints, settings });
  const owner = await signInAt(gateway.url, OWNER);
  ({ id: orgId } = (await owner.call("GET", "/v1/orgs/first")).json);
  const otherOwner = { email: `${theirs.next("owner")}@example.com`, name: theirs.next("name") };
  const other = await signInAt(gateway.url, otherOwner);
  const made = { slug: "other", name: theirs.next("org"), billing_country: "IN" };
  await ok(other.call("POST", "/v1/orgs", { body: made }));
  await ok(other.call("POST", "/v1/projects", { org: "other", body: { slug: "main", name: "Main" } }));
  for (const [person, org, markers] of [
    [owner, "first", ours],
    [other, "other", theirs],
  ] as const) {
    const call: typeof person.call = (method, path, options) =>
      person.call(method, path, { org, ...options });
    await plantInWebhooks(call, receiver, markers);
    await plantInMoney(person, org, markers);
    await plantInAccount(person, org, markers);
    await plantInDirectory(await directoryOf(gateway.url, person, org), markers);
  }
  await plantInQuote(owner, "first");
  await plantInCalls(gateway, { rounds: 3, key: gateway.liveKey, markers: ours });
  await recorded(gateway);
  await ok(owner.call("POST", "/v1/orgs/first/erasure"));
  const dataDir = join(template, "data");
  const tables = await clickhouse(
    dataDir,
    "SELECT data_paths[1] FROM system.tables WHERE database = 'weir' AND name IN ('payloads', 'requests')",
  );
  const found = tables.trim().split("\n");
  await gateway.stop();
  for (const path of found) {
    const folder = path.replace(/^.*?(?=store\/)/, "clickhouse/");
    parts.set(folder, partNames(join(dataDir, folder)));
  }
  expect([...parts.values()].every((names) => names.length > 0)).toBe(true);
  theirRows = await rowsWith(theirs, template);
  expect(theirRows.length).toBeGreaterThan(30);
});
afterAll(async () => {
  await receiver.close();
  removeFolder(home);
});

/** What people and orgs say, which does not change with time. */
const TABLES = [
  "account.orgs",
  "account.projects",
  "account.keys",
  "account.users",
  "account.members",
  "account.tickets",
  "account.provider_keys",
  "policies.texts",
  "scim.users",
  "scim.groups",
  "scim.log",
  "events.rows",
  "audit.rows",
  "webhooks.endpoints",
  "billing.topups",
  "billing.refunds",
  "billing.mandates",
  "billing.subscription_changes_by_key",
];

/** `table key` of each row that holds a marker, in the folder of a gateway that does not run. */
async function rowsWith(markers: Markers, folder: string): Promise<string[]> {
  const store = openStore(join(folder, "data"));
  const found: string[] = [];
  for (const name of TABLES) {
    for (const { key, value } of store.table(name).range()) {
      const text = JSON.stringify(value);
      if (markers.planted.some((marker) => text.includes(marker)))
        found.push(`${name} ${JSON.stringify(key)} ${text}`);
    }
  }
  await store.close();
  return found;
}

/** A gateway at the day of the erasure; undefined where it was killed before it was ready. */
async function started(
  folder: string,
  env: Record<string, string> = {},
): Promise<SpawnedGateway | undefined> {
  const shift = `--import=${join(import.meta.dirname, "../../support/shifted-clock.ts")}`;
  const ahead = { WEIR_TEST_CLOCK_AHEAD_MS: String(AHEAD_MS), NODE_OPTIONS: shift };
  return await spawnGateway({ folder, engine: true, endpoints, env: { ...ahead, ...env } }).catch(
    (error: Error) => {
      expect(error.message).toMatch(/^the gateway ended with null/);
      return undefined;
    },
  );
}

const operatorKey = (folder: string) => readFileSync(join(folder, "data/operator-key"), "utf8").trim();
const isErased = async (gateway: SpawnedGateway, folder: string): Promise<boolean> =>
  (await gateway.call("GET", `/v1/operator/orgs/${orgId}`, { key: operatorKey(folder) })).json.name === "";

/** Lets the next start finish, and looks at what is left. */
async function expectErased(folder: string): Promise<void> {
  const gateway = await started(folder);
  if (gateway === undefined) throw new Error("it was not killed, and ended");
  await until("the org is erased", () => isErased(gateway, folder));
  // Old parts are let go at once only while an erasure waits for them.
  const hasty = "SELECT name FROM system.tables WHERE position(engine_full, 'old_parts_lifetime') > 0";
  // The engine may still start: all was over before the kill.
  let hastyTables: string | undefined;
  const answers = async () => {
    hastyTables = await clickhouse(join(folder, "data"), hasty).catch(() => undefined);
    return hastyTables !== undefined;
  };
  await until("ClickHouse answers", answers);
  expect(hastyTables).toBe("");
  expect(await gateway.kill("SIGTERM"), gateway.output()).toBe(0);
  await gateway.simulator.close();
  const dataDir = join(folder, "data");
  expect(ours.in(dataDir)).toEqual([]);
  for (const [table, before] of parts) {
    const now = partNames(join(dataDir, table));
    expect(now.filter((name) => before.includes(name) || !/^\d/.test(name))).toEqual([]);
    expect(readdirSync(join(dataDir, table, "detached"))).toEqual([]);
  }
  const left = readdirSync(dataDir).filter((name) => /next|rewrite/.test(name));
  const files = existsSync(join(dataDir, "exports")) ? readdirSync(join(dataDir, "exports")) : [];
  expect([left, files]).toEqual([[], []]);
  const now = new Set(await rowsWith(theirs, folder));
  expect(theirRows.filter((row) => !now.has(row))).toEqual([]);
}

let folders = 0;
function copied(): string {
  const folder = join(home, `f${++folders}`);
  // Links within ClickHouse's folder stay links within the copy.
  cpSync(template, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

describe("kill -9 during an erasure", { timeout: 120_000 + ROUNDS * 180_000 }, () => {
  test.skipIf(disk.missing !== "")(
    `at acts that it commits, ${ROUNDS} times, twice each${disk.missing}`,
    async () => {
      // The acts of an erasure that nothing ends.
      disk.set("kill .journal 1000000");
      const whole = copied();
      const gateway = await started(whole, disk.env);
      if (gateway === undefined) throw new Error("it was killed");
      await until("the org is erased", () => isErased(gateway, whole));
      const acts = disk.counted();
      await gateway.kill("SIGKILL");
      await gateway.simulator.close();
      // Killed behind its end: LMDB is rewritten at the next start.
      disk.set();
      await expectErased(whole);
      removeFolder(whole);
      expect(acts).toBeGreaterThan(20);
      for (let round = 0; round < ROUNDS; round++) {
        const folder = copied();
        for (let kill = 0; kill < 2; kill++) {
          disk.set(`kill .journal ${1 + Math.floor(random() * acts)}`);
          const one = await started(folder, disk.env);
          if (one === undefined) continue;
          const isOver = () => one.process.signalCode !== null || one.process.exitCode !== null;
          await until(
            "it is killed or done",
            async () => isOver() || (await isErased(one, folder).catch(isOver)),
          );
          await one.kill("SIGKILL");
          await one.simulator.close();
        }
        disk.set();
        await expectErased(folder);
        removeFolder(folder);
      }
    },
  );

  test(`at random, ${ROUNDS} times`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folder = copied();
      const one = await started(folder);
      if (one === undefined) throw new Error("it ended");
      await anyMoment(random, 3000);
      await one.kill("SIGKILL");
      await one.simulator.close();
      await expectErased(folder);
      removeFolder(folder);
    }
  });

  test(`of ClickHouse alone, ${ROUNDS} times`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folder = copied();
      const one = await started(folder);
      if (one === undefined) throw new Error("it ended");
      const dataDir = join(folder, "data");
      const begun = "SELECT count() FROM system.mutations WHERE database = 'weir'";
      await until(
        "the rewriting has begun",
        async () => Number(await clickhouse(dataDir, begun).catch(() => "0")) > 0,
      );
      await until("there is one to kill", () => killEngine(one.pid));
      await until("the org is erased", () => isErased(one, folder));
      await one.kill("SIGTERM");
      await one.simulator.close();
      await expectErased(folder);
      removeFolder(folder);
    }
  });
});

test.skipIf(disk.missing !== "")(
  `kill -9 at calls that write an export: one whole file is there behind the next start${disk.missing}`,
  { timeout: 120_000 + ROUNDS * 60_000 },
  async () => {
    /** How many calls an export takes differs by one or two. @returns the calls that were counted, at most `step` */
    async function killedAt(step: number): Promise<number> {
      const folder = copied();
      disk.set(`kill data/exports/ ${step}`);
      const one = await spawnGateway({ folder, engine: true, endpoints, env: disk.env });
      const owner = await signInAt(one.url, OWNER);
      const { id } = (await ok(owner.call("POST", "/v1/orgs/first/export"))).json;
      const path = `/v1/orgs/first/exports/${id}`;
      const isReady = async (person: typeof owner) =>
        (await person.call("GET", path)).json.status === "ready";
      const isOver = () => one.process.signalCode !== null;
      await until("it is killed or done", async () => isOver() || (await isReady(owner).catch(isOver)));
      const calls = disk.counted();
      await one.kill("SIGKILL");
      await one.simulator.close();
      disk.set();
      const two = await spawnGateway({ folder, engine: true, endpoints });
      const again = await signInAt(two.url, OWNER);
      await until("the export is there", () => isReady(again));
      expect(readdirSync(join(folder, "data/exports"))).toEqual([`${id}.zip`]);
      const { bytes } = (await again.call("GET", path)).json;
      const zip = readFileSync(join(folder, "data/exports", `${id}.zip`));
      expect([zip.length, unzipped(zip).size]).toEqual([bytes, 12]);
      await two.kill("SIGTERM");
      await two.simulator.close();
      removeFolder(folder);
      return calls;
    }
    const all = await killedAt(1_000_000);
    expect(all).toBeGreaterThan(2);
    const stride = Math.ceil(all / (ROUNDS * 3));
    for (let step = 1; step <= all; step += stride)
      expect(await killedAt(step)).toBeGreaterThanOrEqual(Math.min(step, all - 3));
  },
);
