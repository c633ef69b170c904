/**
 * Each release keeps a small data folder (`test/releases`), made by its own code and killed in the midst of it: this code opens it,
 * and shows what that release showed.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Expected, releaseOptions } from "../../releases/release.ts";
import { removeFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { metric } from "../../support/money/fixtures.ts";
import { until } from "../../support/wait.ts";

const FOLDERS = join(import.meta.dirname, "../../releases");
const releases = readdirSync(FOLDERS).flatMap((file) => /^(.*)\.tar\.gz$/.exec(file)?.[1] ?? []);

test("there is one of release 0.1.0", () => expect(releases).toContain("0.1.0"));

describe.each(releases)("the folder of release %s", (release) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-release-"));
  let expected: Expected;
  let gateway: TestGateway;
  const start = (engine: boolean) => testGateway({ ...releaseOptions, folder, engine });

  beforeAll(async () => {
    execFileSync("tar", ["-xzf", join(FOLDERS, `${release}.tar.gz`), "-C", folder]);
    expected = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
    // A minute after it was made: kept answers are not yet forgotten.
    const trueNow = Date.now.bind(Date);
    const lieMs = expected.madeAtMs + 60_000 - trueNow();
    vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
    gateway = await start(true);
  });
  afterAll(async () => {
    await gateway.stop();
    await gateway.simulator.close();
    vi.restoreAllMocks();
    removeFolder(folder);
  });

  /** Asking uses a key, and the release ran without ClickHouse, from which figures of models come. */
  const changing = ["last_used_at", "analytics", "series", "apps"];
  const still = (json: unknown) =>
    JSON.parse(JSON.stringify(json, (name, value) => (changing.includes(name) ? undefined : value)));

  test("balance, ledger, keys, policies, records and responses are as they were", async () => {
    for (const [path, was] of Object.entries(expected.reads)) {
      const { json } = await gateway.call("GET", path);
      // Later releases may tell more; nothing that was told may be missing or other.
      expect(json, path).toMatchObject(still(was));
    }
  });

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

  test("the records that waited reach ClickHouse", async () => {
    await until("the outbox is empty", async () => (await metric(gateway, "weir_outbox_rows")) === 0);
    expect((await gateway.call("GET", "/v1/requests?limit=100")).json.data.length).toBeGreaterThan(0);
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
