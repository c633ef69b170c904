/** The folder of each release becomes that of the first of two cells: what its orgs had, they have at every cell. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { secretsKeyText } from "../../../src/cluster/cells/init/init.ts";
import { readConfig } from "../../../src/host/settings/config.ts";
import { openStore } from "../../../src/store/store.ts";
import { RELEASES, stillTold, unpacked } from "../../releases/opened.ts";
import { releaseOptions } from "../../releases/release.ts";
import { envOf, typed } from "../../support/backup/backup.fixtures.ts";
import { removeFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { missingRedis, startRedis, type TestRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
const why = missing === undefined ? "" : `: ${missing}`;
const LEDGER = "/v1/credits/ledger?limit=500";
/** What time does not change: Redis has a clock of its own, and what was kept for a day is over. */
const LASTING = ["/v1/keys", "/v1/projects", "/v1/policies", "/v1/policies/house/versions/1"];
const lasting = (json: unknown): object =>
  JSON.parse(JSON.stringify(stillTold(json)), (name, value) =>
    name.startsWith("spend_") ? undefined : value,
  );

interface Entry {
  readonly seq: number;
  readonly amount_micro_usd: number;
}

describe.skipIf(missing).each(RELEASES)(`C5: the folder of release %s as a cell's${why}`, (release) => {
  const { folder, expected } = unpacked(release);
  let cells: TestGateway;
  beforeAll(async () => {
    cells = await testGateway({ ...releaseOptions, folder, cells: 2, engine: true });
  });
  afterAll(async () => {
    await cells?.stop();
    await cells?.simulator.close();
    removeFolder(folder);
  });

  test("C5: its keys, projects and policies are at both cells", async () => {
    for (const path of LASTING.flatMap((one) => [one, one])) {
      const { json } = await cells.call("GET", path);
      expect(json, path).toMatchObject(lasting(expected.reads[path]));
    }
  });

  test("C5: its ledger is listed whole, adds up to the balance, and takes calls", async () => {
    const list = async () => (await cells.call("GET", LEDGER)).json?.data as Entry[] | undefined;
    const was = (expected.reads[LEDGER] as { data: Entry[] }).data;
    const now = await until("the list is complete", list, (found) => found !== undefined);
    expect(now?.slice(-was.length)).toMatchObject(was);
    for (const key of [expected.secrets.live, expected.secrets.test, expected.secrets.limited])
      expect((await cells.chat({}, { key })).status).toBe(200);
    const { available } = await cells.balance();
    const sum = async () =>
      (await list())?.reduce((total, { amount_micro_usd: amount }) => total + amount, 0);
    await until("the list has the calls", sum, (found) => found === available);
  });

  test("C5: its records reach ClickHouse", async () => {
    const read = (id: string) => cells.call("GET", `/v1/requests/${id}`);
    for (const id of expected.requestIds)
      await until(
        `${id} is found`,
        async () => (await read(id)).status,
        (status) => status === 200,
      );
  });
});

describe.skipIf(missing)(`C5: what only a later release knows${why}`, () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const LATER = "was written by a later release, which must be run on this data folder\n";
  const cases: [what: string, table: string, key: string | [string, number], row: unknown, told: string][] = [
    ["a table", "novelties.rows", "a", 1, "table novelties.rows"],
    [
      "a kind of entry",
      "ledger",
      ["org_x", 1],
      [99, 5, 5, 1, "x", "y"],
      "ledger entry 1, of the unknown kind 99,",
    ],
  ];
  test.each(cases)(
    "C5: %s is one sentence for whoever makes cells of the folder",
    async (_, table, key, row, told) => {
      const { folder } = unpacked("0.1.0");
      onTestFinished(() => removeFolder(folder));
      const dataDir = join(folder, "data");
      const store = openStore(dataDir);
      await store.act(() => store.table(table).put(key, row));
      await store.close();
      const env = {
        ...envOf(folder),
        REDIS_URL: redis.url,
        WEIR_SECRETS_KEY: secretsKeyText(readConfig(envOf(folder))),
      };
      expect(await typed(["cells", "init"], env)).toEqual({
        code: 1,
        out: "",
        err: `${join(dataDir, "weir.lmdb")}: ${told} ${LATER}`,
      });
    },
  );
});
