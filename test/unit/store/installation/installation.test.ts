/** What all processes of an installation have in common, whatever data folder they work on. */
import { createSecretKey, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import { storedPriceVersions } from "../../../../src/catalog/models/price-versions.ts";
import { openInstallation } from "../../../../src/store/installation/installation.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "weir-installation-")));
const stores = [tempStore(), tempStore()];
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true });
  for (const store of stores) await store.dispose();
});

test("with one master key two folders read each other's cursors; with keys of their own they do not", () => {
  const masterKey = createSecretKey(randomBytes(32));
  const open = (key: typeof masterKey | undefined) =>
    folders.map((dataDir) => cursors(openInstallation({ dataDir, masterKey: key }).secret("cursors")));
  const [one, other] = open(masterKey);
  const cursor = one?.write("keys", [7, "a"]);
  expect(other?.read("keys", cursor)).toEqual([7, "a"]);
  const [alone, stranger] = open(undefined);
  const own = alone?.write("keys", [7, "a"]);
  expect([alone?.read("keys", own), stranger?.read("keys", own)]).toEqual([[7, "a"], undefined]);
  // The next start of the same folder has the same secret.
  expect(open(undefined)[0]?.read("keys", own)).toEqual([7, "a"]);
});

test("the secret for cursors is not the master key", () => {
  const bytes = randomBytes(32);
  const [dataDir = ""] = folders;
  const secret = openInstallation({ dataDir, masterKey: createSecretKey(bytes) }).secret("cursors");
  expect(secret).toHaveLength(32);
  expect(Buffer.from(secret).equals(bytes)).toBe(false);
});

test("an org's secret is the same in each process and after a restart, and no other org's", () => {
  const masterKey = createSecretKey(randomBytes(32));
  const [one, other, stranger] = [masterKey, masterKey, createSecretKey(randomBytes(32))].map((key, at) =>
    openInstallation({ dataDir: folders[at % 2] ?? "", masterKey: key }),
  );
  const secret = one?.orgSecret("org_a");
  expect(secret).toHaveLength(32);
  expect(one?.orgSecret("org_a")).toBe(secret);
  expect(other?.orgSecret("org_a")).toEqual(secret);
  expect(one?.orgSecret("org_b")).not.toEqual(secret);
  expect(stranger?.orgSecret("org_a")).not.toEqual(secret);
});

test("the same prices have the same version in each process, whenever it reads them, and other prices another", async () => {
  const priced = (input: number, endpointId = "ep_a_m_eu") => ({
    endpointId,
    prices: { input, output: 2000 },
    listPrices: { input, output: 2000 },
    markupBps: 0,
  });
  const clocks = [systemClock, new ManualClock("2026-01-01T00:00:00Z")];
  const [one, other] = stores.map(({ store }, i) => storedPriceVersions(store, clocks[i] ?? systemClock));
  const versionIn = async (process: typeof one, endpoint: ReturnType<typeof priced>) =>
    (await process?.assign([endpoint]))?.get(endpoint.endpointId)?.version;
  const first = await versionIn(one, priced(1000));
  expect(first).toMatch(/^pv_[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(await versionIn(other, priced(1000))).toBe(first);
  const second = await versionIn(one, priced(1001));
  const elsewhere = await versionIn(one, priced(1000, "ep_b_m_eu"));
  expect(new Set([first, second, elsewhere]).size).toBe(3);
  // Prices that return are the same prices, in a new span of the history.
  expect(await versionIn(one, priced(1000))).toBe(first);
  expect(one?.history("ep_a_m_eu").map(({ version }) => version)).toEqual([first, second, first]);
});
