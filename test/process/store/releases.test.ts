/**
 * Each release keeps a small data folder (`test/releases`), made by its own code and killed in the midst of it: this code opens it,
 * and shows what that release showed.
 */
import { copyFileSync, existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { inspect, storedProgress } from "../../../src/store/recovery/inspection.ts";
import { openStore } from "../../../src/store/store.ts";
import { RELEASES, stillTold, unpacked } from "../../releases/opened.ts";
import { type Expected, releaseOptions } from "../../releases/release.ts";
import { envOf, typed } from "../../support/backup/backup.fixtures.ts";
import { removeFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { metric } from "../../support/money/fixtures.ts";
import { MAIN, place, run } from "../../support/process.fixtures.ts";
import { until } from "../../support/wait.ts";

test("there is one of release 0.1.0, and of the commits before and behind it that others run", () =>
  expect(RELEASES).toEqual(expect.arrayContaining(["0.1.0", "9f068ca", "adeee8f", "1d25451"])));

/** A minute after it was made: kept answers are not yet forgotten. */
function lie({ madeAtMs }: Expected): void {
  const trueNow = Date.now.bind(Date);
  const lieMs = madeAtMs + 60_000 - trueNow();
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
}

async function readsAsThen({ call }: TestGateway, { reads }: Expected): Promise<void> {
  for (const [path, was] of Object.entries(reads)) {
    const { json } = await call("GET", path);
    expect(json, path).toMatchObject(stillTold(was) as object);
  }
}

describe.each(RELEASES)("the folder of release %s", (release) => {
  const { folder, expected } = unpacked(release);
  let gateway: TestGateway;
  const start = (engine: boolean) => testGateway({ ...releaseOptions, folder, engine });

  beforeAll(async () => {
    lie(expected);
    gateway = await start(true);
  });
  afterAll(async () => {
    await gateway.stop();
    await gateway.simulator.close();
    vi.restoreAllMocks();
    removeFolder(folder);
  });

  test("balance, ledger, keys, policies, records and responses are as they were", () =>
    readsAsThen(gateway, expected));

  test("S4: the response that it stored counts in the org's quota", async () => {
    const kept = async () => (await gateway.call("GET", "/v1/limits")).json.kept.live.responses_bytes;
    const { text } = await gateway.call("GET", `/v1/responses/${expected.responseId}`);
    expect(await kept()).toBeGreaterThan(text.length);
  });

  test("the org has spent what its projects have", async () => {
    const { org } = (await gateway.call("GET", "/v1/limits")).json;
    const { data } = (await gateway.call("GET", "/v1/projects")).json;
    const spent = data.map((project: { spend_month_micro: number }) => project.spend_month_micro);
    expect(org.spend_month_micro).toBeGreaterThan(0);
    expect(org.spend_month_micro).toBe(spent.reduce((a: number, b: number) => a + b, 0));
  });

  test("its keys work, and a repeated call gets the answer of then", async () => {
    const { once, repeated, secrets } = expected;
    const again = await gateway.call("POST", "/v1/chat/completions", once);
    expect([again.status, again.text]).toEqual([200, repeated]);
    for (const key of [secrets.live, secrets.limited]) {
      expect((await gateway.chat({ model: "test/model", max_tokens: 5 }, { key })).status).toBe(200);
    }
    expect((await gateway.chat({}, { key: secrets.test })).status).toBe(200);
  });

  test.runIf(expected.secrets.playground)(
    "the key of the playground works for the rest of its hour",
    async () => {
      const { status } = await gateway.chat(
        { model: "test/model", max_tokens: 5 },
        { key: expected.secrets.playground ?? "" },
      );
      expect(status).toBe(200);
    },
  );

  test.runIf(expected.usedUpId)("the key whose budget is used up is listed", async () => {
    const { data } = (await gateway.call("GET", "/v1/usage/budgets")).json;
    expect(data).toContainEqual(expect.objectContaining({ scope: "key", id: expected.usedUpId }));
  });

  test("the records that waited reach ClickHouse", async () => {
    await until("the outbox is empty", async () => (await metric(gateway, "weir_outbox_rows")) === 0);
    const { data } = (await gateway.call("GET", "/v1/requests?limit=100")).json;
    const ids = data.map((request: { request_id: string }) => request.request_id);
    expect(ids).toEqual(expect.arrayContaining([...expected.requestIds]));
  });

  test("it opens once more, with what was added to it", async () => {
    const { json: before } = await gateway.call("GET", "/v1/credits");
    await gateway.stop();
    // Nothing of this asks ClickHouse.
    gateway = await start(false);
    expect((await gateway.call("GET", "/v1/credits")).json).toEqual(before);
    expect((await gateway.chat()).status).toBe(200);
  });
});

describe.each(RELEASES)("C5: the folder of release %s, before any start of this one", (release) => {
  const { folder, expected } = unpacked(release);
  const dataDir = join(folder, "data");
  afterAll(() => {
    vi.restoreAllMocks();
    removeFolder(folder);
  });

  test("C5: is found to be whole", async () => {
    const told = await typed(["check", "--data", dataDir], envOf(folder));
    expect(told, told.out).toMatchObject({ code: 0, err: "" });
  });

  test.runIf(expected.usedUpId)("C5: has the notes that the release made of keys", async () => {
    const { folder: another } = unpacked(release);
    onTestFinished(() => removeFolder(another));
    const store = openStore(join(another, "data"));
    onTestFinished(() => store.close());
    const idsIn = (table: string) => Array.from(store.table<string>(table).range(), ({ value }) => value);
    expect(idsIn("limits.near")).toEqual([expected.usedUpId]);
    const [playground, ...others] = idsIn("account.playground_keys");
    expect([playground, others]).toEqual([expect.stringMatching(/^key_/), []]);
  });

  test("C5: is backed up, and what is restored of it shows what that release showed", async () => {
    lie(expected);
    const [backup, restored] = ["weir-backup-", "weir-restored-"].map((name) => {
      const made = mkdtempSync(join(tmpdir(), name));
      onTestFinished(() => removeFolder(made));
      return made;
    }) as [string, string];
    const made = join(backup, "made");
    expect(await typed(["backup", made], envOf(folder))).toMatchObject({ code: 0, err: "" });
    expect(await typed(["restore", made], envOf(restored))).toMatchObject({ code: 0, err: "" });
    for (const name of ["first-key", "first-test-key"])
      copyFileSync(join(dataDir, name), join(restored, "data", name));
    const gateway = await testGateway({ ...releaseOptions, folder: restored, engine: true });
    try {
      await readsAsThen(gateway, expected);
      expect((await gateway.chat()).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  });

  test("C5: has checksums in all rows of its tables since the first start", async () => {
    // The backup was its first.
    expect(inspect(dataDir, [], () => {}).findings).toEqual([]);
    expect(storedProgress(dataDir)).toMatchObject({ checked: true });
  });
});

describe("C5: an entry of the ledger whose kind only a later release knows", () => {
  /** Behind the newest entry of the org of the folder. */
  async function withLaterEntry(): Promise<string> {
    const { folder } = unpacked("0.1.0");
    onTestFinished(() => removeFolder(folder));
    const store = openStore(join(folder, "data"));
    const ledger = store.table<readonly unknown[]>("ledger");
    const keys = Array.from(ledger.range(), ({ key }) => key as [string, number]);
    const [org, seq] = keys.at(-1) as [string, number];
    await store.act(() => ledger.put([org, seq + 1], [99, 5, 5, 1, "novelty", "one"]));
    await store.close();
    return folder;
  }
  const told = (folder: string) =>
    `${join(folder, "data", "weir.lmdb")}: ledger entry 12, of the unknown kind 99, was written by a later release, which must be run on this data folder\n`;

  test("C5: is one sentence for whoever backs it up, and nothing of the backup is left", async () => {
    const folder = await withLaterEntry();
    const to = join(folder, "backup");
    const backup = await typed(["backup", to], envOf(folder));
    expect(backup).toEqual({ code: 1, out: "", err: told(folder) });
    expect(existsSync(to)).toBe(false);
  });

  test("C5: is one sentence at the start", async () => {
    const folder = await withLaterEntry();
    const { env } = await place({ DATA_DIR: join(folder, "data") });
    const started = run(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] });
    expect(await started.ended).toEqual({ code: 1, signal: null });
    expect(started.output()).toBe(told(folder));
  });
});
