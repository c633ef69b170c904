/** `weir backup` beside a running gateway and of a stopped one, and `weir restore`. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  chargesOf,
  chargesOfStarted,
  envOf,
  load,
  restoredFrom,
  rowsOf,
  typed,
} from "../../../support/backup/backup.fixtures.ts";
import { removeFolder } from "../../../support/gateway.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import { until } from "../../../support/wait.ts";

const home = mkdtempSync(join(tmpdir(), "weir-backups-"));
let folders = 0;
const newFolder = (): string => join(home, `f${++folders}`);

/** A backup of a running gateway, made under load. */
let backup = "";
let answeredBefore: readonly string[] = [];
let gateway: SpawnedGateway;

beforeAll(async () => {
  gateway = await spawnGateway();
  const clients = load(gateway);
  await until("calls are answered and inserted", async () => {
    const [row] = await rowsOf<{ n: number }>(dataDir(), "SELECT toUInt32(count()) AS n FROM requests").catch(
      () => [],
    );
    return (row?.n ?? 0) > 20;
  });
  answeredBefore = clients.answered();
  backup = newFolder();
  const made = await typed(["backup", backup], envOf(gateway.folder, gateway.url));
  expect(made).toMatchObject({
    code: 0,
    err: "",
    out: expect.stringMatching(/ledger: \d+ entries of 1 orgs/),
  });
  await clients.stop();
});

afterAll(async () => {
  await gateway.stop();
  removeFolder(home);
});

const dataDir = () => join(gateway.folder, "data");

const refusal = async (from: string): Promise<string> => {
  const folder = newFolder();
  mkdirSync(folder);
  const { code, err, out } = await typed(["restore", from], envOf(folder));
  expect([code, out]).toEqual([1, ""]);
  expect(readdirSync(folder)).toEqual([]);
  return err;
};

test("a backup made under load has every call answered before it, once in the ledger and once in every table", async () => {
  const folder = await restoredFrom(backup, gateway.folder);
  expect(chargesOf(join(folder, "data"))).toEqual(expect.arrayContaining([...answeredBefore]));
  const charged = await chargesOfStarted(folder);
  expect(new Set(charged).size).toBe(charged.length);
});

test("a backup is this user's only, has the master key and none of the other secrets, and leaves nothing frozen", () => {
  expect(readdirSync(backup).sort()).toEqual(["clickhouse", "manifest.json", "secrets.key", "weir.lmdb"]);
  expect(statSync(backup).mode & 0o777).toBe(0o700);
  for (const name of ["manifest.json", "secrets.key", "weir.lmdb"])
    expect(statSync(join(backup, name)).mode & 0o777).toBe(0o600);
  const shadow = readdirSync(join(dataDir(), "clickhouse/shadow"));
  expect(shadow.filter((name) => name.startsWith("weir"))).toEqual([]);
});

test("a backup without records or master key says so, and restores to what it has", async () => {
  const to = newFolder();
  const { code, out } = await typed(
    ["backup", to, "--no-records", "--no-master-key"],
    envOf(gateway.folder, gateway.url),
  );
  expect([code, out]).toEqual([0, expect.stringMatching(/are not in it\.\nThe master key is not in it/)]);
  expect(readdirSync(to).sort()).toEqual(["manifest.json", "weir.lmdb"]);
  const folder = newFolder();
  expect((await typed(["restore", to], envOf(folder))).out).toMatch(/Put secrets\.key/);
});

test("a killed gateway is backed up with what its journal has, and two gateways restored from it have different ids", async () => {
  const other = await spawnGateway();
  const clients = load(other);
  await until("calls are answered", () => clients.answered().length > 30);
  await other.kill("SIGKILL");
  await clients.stop();
  const to = newFolder();
  expect(await typed(["backup", to], envOf(other.folder))).toMatchObject({ code: 0, err: "" });
  const [one, two] = [await restoredFrom(to, other.folder), await restoredFrom(to, other.folder)];
  expect(chargesOf(join(one, "data"))).toEqual(expect.arrayContaining([...clients.answered()]));
  const copyOf = (folder: string) => readFileSync(join(folder, "data/weir.lmdb")).toString("latin1");
  expect(copyOf(one)).not.toBe(copyOf(two));
  await chargesOfStarted(one);
  await other.simulator.close();
  removeFolder(other.folder);
});

test("one bit of any file of a backup changed: a restore is refused and names the file", async () => {
  const files = readdirSync(backup, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(backup.length + 1));
  const manifestBytes = statSync(join(backup, "manifest.json")).size;
  const chosen = [
    ...files.filter((_, at) => at % Math.ceil(files.length / 12) === 0).map((path) => ({ path, at: 0.5 })),
    { path: "weir.lmdb", at: 0.3 },
    { path: "secrets.key", at: 0 },
    ...[0, 0.001, 0.5, (manifestBytes - 1) / manifestBytes].map((at) => ({ path: "manifest.json", at })),
  ];
  for (const { path, at } of chosen) {
    const full = join(backup, path);
    const right = readFileSync(full);
    if (right.length === 0) continue;
    const bad = Buffer.from(right);
    const byte = Math.floor(right.length * at);
    bad[byte] = (bad[byte] ?? 0) ^ 4;
    writeFileSync(full, bad);
    expect(await refusal(backup)).toContain(`${full} is damaged`);
    writeFileSync(full, right);
  }
});

test("a backup that lacks a file, or its manifest, or is of a later release is refused", async () => {
  const copy = newFolder();
  cpSync(backup, copy, { recursive: true, verbatimSymlinks: true });
  rmSync(join(copy, "secrets.key"));
  expect(await refusal(copy)).toContain(`${join(copy, "secrets.key")} is missing`);
  copyFileSync(join(backup, "secrets.key"), join(copy, "secrets.key"));
  rmSync(join(copy, "manifest.json"));
  expect(await refusal(copy)).toContain("this is no backup, or it was not finished");
});

test("neither command writes over anything, and a refused backup leaves what was there", async () => {
  const full = newFolder();
  mkdirSync(full);
  writeFileSync(join(full, "mine"), "");
  const env = envOf(gateway.folder, gateway.url);
  expect(await typed(["backup", full], env)).toMatchObject({
    code: 1,
    err: expect.stringContaining("not empty"),
  });
  const inside = join(dataDir(), "backup");
  expect((await typed(["backup", inside], env)).err).toContain("is in the data folder");
  expect([readdirSync(full), existsSync(inside)]).toEqual([["mine"], false]);
  const folder = newFolder();
  mkdirSync(join(folder, "data"), { recursive: true });
  writeFileSync(join(folder, "data/mine"), "");
  const { code, err } = await typed(["restore", backup], envOf(folder));
  expect([code, err]).toEqual([1, expect.stringContaining("is not empty (has mine)")]);
});

test("a gateway that is only on another port is not backed up from beside", async () => {
  const to = newFolder();
  const { code, err } = await typed(["backup", to], { ...envOf(gateway.folder, gateway.url), PORT: "1" });
  expect([code, err]).toEqual([1, expect.stringMatching(/is in use by process \d+/)]);
  expect(existsSync(to)).toBe(false);
});
