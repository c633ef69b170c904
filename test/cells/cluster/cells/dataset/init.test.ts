/** An installation is made from a folder: all of it once, whatever ends the process in between. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { firstStart } from "../../../../../src/account/first-start.ts";
import type { OrgRow } from "../../../../../src/account/org.ts";
import { AccountTables } from "../../../../../src/account/tables.ts";
import { localDay, systemClock } from "../../../../../src/base/clock.ts";
import { datasetIn } from "../../../../../src/cluster/cells/dataset/dataset.ts";
import { initDataset, secretsKeyText } from "../../../../../src/cluster/cells/init/init.ts";
import { datasetToJoin } from "../../../../../src/cluster/cells/membership/join.ts";
import {
  assertAlone,
  membershipOf,
  noteUpload,
  uploadOf,
} from "../../../../../src/cluster/cells/membership/membership.ts";
import { connectRedis, type RedisLink } from "../../../../../src/cluster/cells/redis/redis.ts";
import { type UploadStep, uploadFolder } from "../../../../../src/cluster/cells/replica/upload.ts";
import { type BudgetHold, openBudgets } from "../../../../../src/credits/budgets/budgets.ts";
import { openCredits } from "../../../../../src/credits/ledger/credits.ts";
import type { Hold } from "../../../../../src/credits/ledger/purse.ts";
import { type Config, readConfig } from "../../../../../src/host/settings/config.ts";
import { IdempotentAnswers } from "../../../../../src/inference/exchange/kept/idempotency.ts";
import { openStore, type Store } from "../../../../../src/store/store.ts";
import { removeFolder, seededFolder } from "../../../../support/gateway.ts";
import { missingRedis, startRedis, type TestRedis } from "../../../../support/redis-server.ts";

const missing = missingRedis();
const GRANT = { kind: "grant", amountMicroUsd: 25_000_000, refType: "first_start" } as const;

/** What a gateway leaves behind in the tables that are no rows of all cells. */
async function use(store: Store, accounts: AccountTables): Promise<void> {
  const { id: orgId, timeZone } = accounts.oldestOrg() as OrgRow;
  const [{ id: projectId = "" } = {}] = accounts.projectsOf(orgId);
  const { book, purse } = openCredits({ store, clock: systemClock });
  const budgets = openBudgets({ store, clock: systemClock, book, orgOf: () => ({ orgId, timeZone }) });
  const hold = purse.hold(orgId, 300) as Hold;
  const budgetHold = budgets.hold({ keyId: "key_used", projectId, orgId, timeZone }, 300) as BudgetHold;
  const charging = budgets.charging(budgetHold, 300);
  const answers = new IdempotentAnswers({
    store,
    clock: systemClock,
    maxBytes: 1000,
    kept: { count() {} },
    onFailure(error) {
      throw error;
    },
  });
  const results = { samples: 30, maxErrorRate: 0.1, minSamples: 20, evaluatedAtMs: 1 };
  await store.act(() => {
    const charge = { requestId: "req_1", amountMicroUsd: 300, atMs: systemClock.now() };
    charging(purse.settle(hold, charge).entry?.seq);
    store.table("account.key_last_used").put("key_used", 1234);
    const canaries = store.table("policies.canaries");
    canaries.put([orgId, "p", 1, "bad"], { ...results, endpointId: "bad", state: "red", failures: 20 });
    canaries.put([orgId, "p", 1, "good"], { ...results, endpointId: "good", state: "green", failures: 1 });
    const answer = { orgId, fingerprint: "f", requestId: "req_1", status: 200, isStream: false };
    answers.put("answered", { ...answer, body: Buffer.from("body") });
  });
  answers.close();
}

const pairs = (flat: readonly string[]): [string, string][] =>
  flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] as string] as [string, string]] : []));

const log = { warn() {} };

describe.skipIf(missing !== undefined)(
  `an installation${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let redis: TestRedis;
    let link: RedisLink;
    const folders: string[] = [];
    beforeAll(async () => {
      redis = await startRedis();
      link = connectRedis({ url: redis.url, log });
      await link.ready(5000);
    });
    afterAll(async () => {
      link.close();
      await redis.stop();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });

    const emptyFolder = () => {
      const folder = mkdtempSync(join(tmpdir(), "weir-init-"));
      folders.push(folder);
      return join(folder, "data");
    };
    const configOf = (dataDir: string, env: Record<string, string> = {}): Config =>
      readConfig({ DATA_DIR: dataDir, ...env });
    const init = async (dataDir: string, discards = false) =>
      await initDataset(configOf(dataDir), { redisUrl: redis.url, discards, log });
    const emptyRedis = async () => void (await link.call("FLUSHALL"));
    const creditOf = async (org: string) =>
      String(await link.call("HMGET", `{weir}:credit:${org}`, "n", "b", "l"));
    const opened = async <T>(dataDir: string, act: (store: Store) => Promise<T> | T): Promise<T> => {
      const store = openStore(dataDir);
      try {
        return await act(store);
      } finally {
        await store.close();
      }
    };

    test("of an empty folder has the first org, its keys and its grant", async () => {
      await emptyRedis();
      const dataDir = emptyFolder();
      const { first, rows } = await init(dataDir);
      expect(rows).toBeGreaterThan(5);
      expect(readFileSync(join(dataDir, "first-key"), "utf8").trim()).toBe(first?.liveSecret);
      expect(await creditOf(first?.orgId ?? "")).toBe("1,25000000,");
      expect(await link.call("HLEN", "{weir}:rows:account.keys")).toBe(2);
      // Nothing is left of who made it: a new term would wait for it for ever.
      expect(await link.call("HLEN", "{weir}:lives")).toBe(0);
      expect(await link.call("EXISTS", "{weir}:kept", "{weir}:restating")).toBe(0);
      await opened(dataDir, (store) => expect(() => assertAlone(store)).toThrow("is a cell's"));
    });

    test("of a folder in use has its orgs and their balances, and a second run changes nothing", async () => {
      await emptyRedis();
      const seeded = await seededFolder(() => {});
      folders.push(seeded);
      onTestFinished(() => removeFolder(seeded));
      const dataDir = join(seeded, "data");
      const org = await opened(dataDir, (store) => new AccountTables(store).oldestOrg()?.id ?? "");
      expect((await init(dataDir)).first).toBeUndefined();
      expect(await creditOf(org)).toBe("1,25000000,");
      await link.call("HINCRBY", `{weir}:credit:${org}`, "b", -1000);
      expect(await init(dataDir)).toEqual({ first: undefined, rows: undefined });
      expect(await creditOf(org)).toBe("1,24999000,");
      await expect(init(emptyFolder())).rejects.toThrow("holds an installation already");
    });

    test("that shall be made once only is left alone where there is one, and so is the folder, which a cell may use", async () => {
      await emptyRedis();
      const dataDir = emptyFolder();
      const once = async (folder: string) =>
        await initDataset(configOf(folder), { redisUrl: redis.url, once: true, log });
      await link.call("HSET", "{weir}:dataset", "id", "other", "filling", ":upload");
      await expect(once(dataDir)).rejects.toThrow("--discard");
      await emptyRedis();
      expect((await once(dataDir)).rows).toBeGreaterThan(5);
      const others = emptyFolder();
      await opened(dataDir, async () => {
        // In a container of its own the command could not see the process that has the folder.
        expect(await once(dataDir)).toEqual({ first: undefined, rows: undefined });
        expect(await once(others)).toEqual({ first: undefined, rows: undefined });
      });
      expect(existsSync(others)).toBe(false);
      await link.call("CONFIG", "SET", "appendfsync", "everysec");
      await expect(once(dataDir)).rejects.toThrow("appendfsync everysec");
      await link.call("CONFIG", "SET", "appendfsync", "always");
      await emptyRedis();
      await expect(once(dataDir)).rejects.toThrow("give that back");
    });

    test("is finished by a second run wherever the first one ended", async () => {
      const steps: readonly UploadStep[] = [{ operations: [["credit_begin", ["org", 3, 500]]] }];
      function* rows(most: number) {
        for (let i = 0; i < 3; i++) {
          if (i === most) throw new Error("killed");
          yield { table: "t", text: `"${i}"`, bytes: Buffer.from("row") };
        }
      }
      function* killed() {
        yield* steps;
        throw new Error("killed");
      }
      for (const content of [
        { rows: rows(0), steps },
        { rows: rows(2), steps },
        { rows: rows(9), steps: killed() },
      ]) {
        await emptyRedis();
        await opened(emptyFolder(), async (local) => {
          await expect(uploadFolder({ link, local, content, discards: false })).rejects.toThrow("killed");
          expect((await datasetIn(link))?.isFinished).toBe(false);
          await expect(datasetToJoin(local, link, true)).rejects.toThrow("is not finished");
          // Its gateway may go on alone until nothing is missing.
          assertAlone(local);
          const whole = { rows: rows(9), steps };
          expect(await uploadFolder({ link, local, content: whole, discards: false })).toBe(3);
          expect(await creditOf("org")).toBe("3,500,");
          expect(await link.call("HLEN", "{weir}:rows:t")).toBe(3);
          expect([await datasetIn(link), uploadOf(local)]).toEqual([
            { id: membershipOf(local), isFinished: true },
            undefined,
          ]);
        });
      }
    });

    test("is finished where the process ended after its folder joined, before and after it was opened", async () => {
      await emptyRedis();
      const dataDir = emptyFolder();
      await init(dataDir);
      const id = (await datasetIn(link))?.id ?? "";
      await opened(dataDir, (store) => noteUpload(store, id));
      expect((await init(dataDir)).rows).toBeUndefined();
      await opened(dataDir, async (store) => {
        expect(uploadOf(store)).toBeUndefined();
        await noteUpload(store, id);
      });
      await link.call("HSET", "{weir}:dataset", "filling", ":upload");
      expect((await init(dataDir)).rows).toBeGreaterThan(5);
      expect((await datasetIn(link))?.isFinished).toBe(true);
    });

    test("that another folder began is discarded only when that is asked for", async () => {
      await emptyRedis();
      await link.call("HSET", "{weir}:dataset", "id", "other", "filling", ":upload");
      await link.call("HSET", "{weir}:rows:t", "k", "left");
      const dataDir = emptyFolder();
      await expect(init(dataDir)).rejects.toThrow("--discard");
      expect((await init(dataDir, true)).rows).toBeGreaterThan(5);
      expect(await link.call("EXISTS", "{weir}:rows:t")).toBe(0);
    });

    test("is not made anew of a cell's folder whose Redis is gone: its balances were there", async () => {
      await emptyRedis();
      const dataDir = emptyFolder();
      await init(dataDir);
      await emptyRedis();
      await expect(init(dataDir)).rejects.toThrow("give that back");
      await opened(dataDir, async (store) => {
        await expect(datasetToJoin(store, link, false)).rejects.toThrow("give the Redis back");
      });
    });

    test("of a folder in use has what was spent, counted and answered there, also where it is made twice", async () => {
      await emptyRedis();
      const dataDir = emptyFolder();
      await opened(dataDir, async (store) => {
        const { book } = openCredits({ store, clock: systemClock });
        const accounts = new AccountTables(store);
        await firstStart({
          accounts,
          clock: systemClock,
          dataDir,
          planId: "local",
          also: ({ orgId: refId }) => book.post(refId, { ...GRANT, refId }),
        });
        await use(store, accounts);
      });
      const { org, project, day } = await opened(dataDir, (store) => {
        const accounts = new AccountTables(store);
        const { id, timeZone } = accounts.oldestOrg() as OrgRow;
        const [{ id: project = "" } = {}] = accounts.projectsOf(id);
        return { org: id, project, day: localDay(systemClock.now(), timeZone) };
      });
      const all = async (name: string) =>
        Object.fromEntries(pairs(((await link.call("HGETALL", `{weir}:${name}`)) as Buffer[]).map(String)));
      const held = async () => ({
        key: await all("spend:k:key_used"),
        project: await all(`spend:p:${project}`),
        org: await all(`spend:o:${org}`),
        used: await all("merged:account.key_last_used"),
        canaries: await all("merged:policies.canaries"),
        reds: Object.keys(await all("rows:policies.canary_reds")),
        former: Object.keys(await all("rows:ledger.former")),
        credit: await creditOf(org),
        bytes: await link.call("STRLEN", "{weir}:bytes:a/answered"),
        claim: await link.call("EXISTS", "{weir}:answer:answered"),
      });
      await init(dataDir);
      const first = await held();
      const spent = { d: day, t: "300", m: "300" };
      expect(first).toEqual({
        key: spent,
        project: spent,
        org: { ...spent, u: "0" },
        used: { key_used: "1234" },
        canaries: {
          [JSON.stringify([org, "p", 1, "bad", 0.1, 20])]: "30 20",
          [JSON.stringify([org, "p", 1, "good", 0.1, 20])]: "30 1",
        },
        reds: [JSON.stringify([org, "p", 1, "bad"])],
        former: ['"unlisted"'],
        credit: "2,24999700,",
        bytes: 4,
        claim: 1,
      });
      // As if it had ended just before the dataset was opened.
      const { id = "" } = (await datasetIn(link)) ?? {};
      await opened(dataDir, (store) => noteUpload(store, id));
      await link.call("HSET", "{weir}:dataset", "filling", ":upload");
      expect((await init(dataDir)).rows).toBeGreaterThan(5);
      expect(await held()).toEqual(first);
    });

    test("needs the key that the folder's secrets are under", async () => {
      await emptyRedis();
      const dataDir = emptyFolder();
      await opened(dataDir, () => {});
      const made = secretsKeyText(configOf(dataDir));
      const other = configOf(dataDir, { WEIR_SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") });
      await expect(initDataset(other, { redisUrl: redis.url, log })).rejects.toThrow(
        "secrets.key holds another key",
      );
      const same = configOf(dataDir, { WEIR_SECRETS_KEY: made });
      expect((await initDataset(same, { redisUrl: redis.url, log })).rows).toBeGreaterThan(5);
    });
  },
);
