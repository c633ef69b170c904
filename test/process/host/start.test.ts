import { chmodSync, mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepPrivate } from "../../../src/base/process/private-folder.ts";
import { removeFolder } from "../../support/gateway.ts";
import { MAIN, type Placed, place, run, testFolder } from "../../support/process.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { until } from "../../support/wait.ts";
import { weirProcess } from "./commands.fixtures.ts";

const isRoot = process.getuid?.() === 0;
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** A gateway that runs until the test is over, or until it is told to stop. */
async function started(where: Placed) {
  const gateway = run(process.execPath, [MAIN], { env: where.env, stdio: ["ignore", "pipe", "pipe"] });
  await where.ready();
  return {
    ...gateway,
    async stop() {
      gateway.child.kill("SIGTERM");
      expect((await gateway.ended).code).toBe(0);
    },
  };
}

describe("O10: one gateway a port", () => {
  test("O10: a second one is refused in one line, the first goes on; a restart can bind at once", async () => {
    const where = await place();
    const first = await started(where);
    const port = new URL(where.url).port;
    const hosts = ["127.0.0.1", "0.0.0.0"];
    const second = (HOST: string) =>
      weirProcess({ env: { ...where.env, HOST, DATA_DIR: join(testFolder(), "data") } });
    expect((await Promise.all(hosts.map(second))).map(({ code, stderr }) => [code, stderr])).toEqual(
      hosts.map((HOST) => [
        1,
        `port ${port} is in use on ${HOST}: stop what listens there, or set PORT to another\n`,
      ]),
    );
    // The side that closes first keeps the connection in TIME_WAIT: this makes it the gateway's.
    const socket = connect(Number(port), "127.0.0.1");
    socket.write("GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await first.stop();
    await closed;
    await (await started(where)).stop();
  });
});

describe("O12: the data folder is its owner's alone", () => {
  let folder: string;
  let dataDir: string;
  let first: SpawnedGateway;
  // With the engine, whose folder is one of those that a start makes.
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "weir-test-"));
    dataDir = join(folder, "data");
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o755);
    first = await spawnGateway({ folder });
  });
  afterAll(async () => {
    await first?.kill("SIGKILL");
    await first?.simulator.close();
    removeFolder(folder);
  });

  test("O12: what the engine writes is not for others either", async () => {
    expect((await first.call("GET", "/v1/usage")).status).toBe(200);
    const look = () =>
      readdirSync(join(dataDir, "clickhouse"), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .filter((entry) => (modeOf(join(entry.parentPath, entry.name)) & 0o077) !== 0);
    // The engine may remove a file between the list and the look at it: then all are looked at again.
    const open = await until("every file was looked at", look, Array.isArray);
    expect(open.map(({ name }) => name)).toEqual([]);
  });

  test("O12: folder 0700 and files 0600 at every start, whatever they were", async () => {
    expect(await first.kill("SIGTERM")).toBe(0);
    const files = () =>
      readdirSync(dataDir, { withFileTypes: true }).map((entry) => ({
        path: join(dataDir, entry.name),
        wanted: entry.isDirectory() ? 0o700 : 0o600,
      }));
    expect(files().map(({ path }) => basename(path))).toContain("clickhouse");
    expect(modeOf(dataDir)).toBe(0o700);
    for (const { path, wanted } of files()) expect([path, modeOf(path)]).toEqual([path, wanted]);
    // As an earlier version, a backup or a hand may leave them.
    writeFileSync(join(dataDir, "journal", "note"), "");
    for (const path of [...files().map((file) => file.path), join(dataDir, "journal", "note")]) {
      chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
    }
    chmodSync(dataDir, 0o755);
    const where = await place({ DATA_DIR: dataDir });
    const again = await started(where);
    expect(modeOf(dataDir)).toBe(0o700);
    for (const { path, wanted } of files()) expect([path, modeOf(path)]).toEqual([path, wanted]);
    expect(modeOf(join(dataDir, "journal", "note"))).toBe(0o600);
    await again.stop();
  });

  test("O12: links are left alone: what they name may lie elsewhere", async () => {
    const folder = testFolder();
    const outside = join(folder, "outside");
    writeFileSync(outside, "");
    chmodSync(outside, 0o644);
    const { symlinkSync } = await import("node:fs");
    mkdirSync(join(folder, "data"));
    symlinkSync(outside, join(folder, "data", "link"));
    expect(keepPrivate(join(folder, "data"))).toEqual([]);
    expect(modeOf(outside)).toBe(0o644);
  });
});

describe("O29: starts that cannot be: one line that names the setting, exit code 1", () => {
  const refused = async (more: Record<string, string>) => {
    const where = await place(more);
    const { code, output, stderr } = await weirProcess(where);
    expect([code, output]).toEqual([1, stderr]);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    return stderr;
  };

  test("O29: DATA_DIR is a file, or lies below one", async () => {
    const file = join(testFolder(), "file");
    writeFileSync(file, "");
    const below = join(file, "data");
    expect(await Promise.all([refused({ DATA_DIR: file }), refused({ DATA_DIR: below })])).toEqual([
      `DATA_DIR=${file} cannot be used: it is a file, not a folder\n`,
      `DATA_DIR=${below} cannot be used: a part of the path is a file, not a folder\n`,
    ]);
  });

  test.skipIf(isRoot)("O29: DATA_DIR cannot be written (skipped for root, who may)", async () => {
    const folder = testFolder();
    chmodSync(folder, 0o500);
    const dataDir = join(folder, "data");
    expect(await refused({ DATA_DIR: dataDir })).toBe(
      `DATA_DIR=${dataDir} cannot be used: this user may not write there\n`,
    );
  });

  test("O29: CONFIG_DIR is missing", async () => {
    const away = join(testFolder(), "nowhere");
    expect(await refused({ CONFIG_DIR: away })).toBe(`CONFIG_DIR: there is no folder ${away}\n`);
  });

  test("O29: HOST is none of this machine", async () => {
    // TEST-NET-1 of RFC 5737: assigned to nobody.
    expect(await refused({ HOST: "192.0.2.1" })).toBe(
      "HOST=192.0.2.1 is no address of this machine: set it to one, such as 127.0.0.1 or 0.0.0.0\n",
    );
  });

  test.skipIf(isRoot)("O29: PORT is a privileged one (skipped for root, who may)", async () => {
    expect(await refused({ PORT: "81" })).toContain("PORT");
  });
});
