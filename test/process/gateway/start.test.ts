/**
 * Starts: alone on the port (O10), with a data folder that nobody else reads (O12), with clear lines where a start cannot
 * be (O29), and the commands beside it: `weir check` (O29), `weir keys create` (O15).
 */

import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AccountTables } from "../../../src/account/tables.ts";
import { runCommandLine } from "../../../src/commands/command-line.ts";
import { keepPrivate } from "../../../src/process/private-folder.ts";
import { openStore } from "../../../src/store/store.ts";
import { removeFolder, seededFolder, testGateway } from "../../support/gateway.ts";
import { MAIN, type Placed, place, run, smallConfig, testFolder } from "../../support/process.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { until } from "../../support/wait.ts";

const isRoot = process.getuid?.() === 0;
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** A command in this process: as `src/main.ts` runs it, without the second that a process takes to load it. */
async function weir(where: Pick<Placed, "env">, ...words: string[]) {
  const said: string[] = [];
  const errors: string[] = [];
  const shell = {
    env: where.env,
    isTerminal: false,
    out: (text: string) => said.push(text),
    err: (text: string) => {
      said.push(text);
      errors.push(text);
    },
  };
  const code = await runCommandLine(words, shell);
  return { code, output: said.join(""), stderr: errors.join("") };
}

/** A command as a process of its own, to its end: for what stands in the way of another process. */
async function weirProcess(where: Pick<Placed, "env">, ...words: string[]) {
  const { child, ended, output } = run(process.execPath, [MAIN, ...words], {
    env: where.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const errors: string[] = [];
  child.stderr?.on("data", (data) => errors.push(String(data)));
  const { code } = await ended;
  return { code, output: output(), stderr: errors.join("") };
}

/** A data folder, and the environment of commands on it. */
async function withData(folder: string) {
  onTestFinished(() => removeFolder(folder));
  const dataDir = join(folder, "data");
  const { env } = await place({ DATA_DIR: dataDir });
  return { folder, dataDir, env };
}

/** A gateway in this process: for a command, the one that has the data folder. */
const running = (folder: string) => testGateway({ folder });

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

describe("O29: weir check", () => {
  const KEY = "sk-check-secret-0123456789";

  test("O29: says what a start would do, and changes nothing", async () => {
    const where = await place({ OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: "" });
    const { code, output } = await weir(where, "check");
    expect(code).toBe(0);
    for (const line of [
      `${where.url}, which is free`,
      `${where.dataDir}, to be made`,
      "the server at http://127.0.0.1:1, which does not answer now: calls work without it",
      "payments       INR by simulated, USD by simulated",
      "identity       the built-in provider",
      "plans          ",
      "exchange       ",
      "webhooks       may reach public addresses and ",
      "openai: has its credential by OPENAI_API_KEY",
      "anthropic: not in use, set ANTHROPIC_API_KEY",
      "A start would succeed.",
    ]) {
      expect(output).toContain(line);
    }
    expect(output).toMatch(/models +\d+ of \d+ can be reached, over \d+ endpoints/);
    expect(output).not.toContain(KEY);
    expect(existsSync(where.dataDir)).toBe(false);
  });

  test("O29: says where cells share their state, and what a start of them lacks", async () => {
    const stateOf = async (more: Record<string, string>) => {
      const { code, output } = await weir(await place(more), "check");
      return [code, /^state +(.*)$/m.exec(output)?.[1]];
    };
    expect(await stateOf({})).toEqual([0, "in the data folder, of one process; no Redis"]);
    const redisUrl = "redis://:secret@127.0.0.1:1";
    expect(
      await stateOf({ REDIS_URL: redisUrl, CELL: "a", WEIR_SECRETS_KEY: randomBytes(32).toString("base64") }),
    ).toEqual([0, "in the Redis of REDIS_URL, which is not asked; this one is cell a"]);
    const bare = testFolder();
    const lacks =
      "several cells share their state in Redis, and neither redis-server nor valkey-server is on PATH";
    expect(await stateOf({ CELLS: "3", PATH: bare })).toEqual([1, expect.stringContaining(lacks)]);
    const program = join(bare, "redis-server");
    writeFileSync(program, "", { mode: 0o755 });
    const serves = `in a Redis of the data folder, which ${program} serves; 3 cells here`;
    expect(await stateOf({ CELLS: "3", PATH: bare })).toEqual([0, serves]);
  });

  test("O29: names the variables that the log of a start names", async () => {
    const where = await place({ GOOGLE_CLOUD_PROJECT: "", VLLM_BASE_URL: "", OLLAMA_BASE_URL: "" });
    const { output } = await weir(where, "check");
    for (const line of [
      "vertex: not in use, set GOOGLE_CLOUD_PROJECT and GOOGLE_APPLICATION_CREDENTIALS",
      "vllm: not in use, set VLLM_BASE_URL",
      "ollama: not in use, set OLLAMA_BASE_URL",
    ]) {
      expect(output).toContain(line);
    }
  });

  test.skipIf(!existsSync("/proc/locks"))(
    "O29: sees that a running gateway has the data folder (skipped where the system does not list locks)",
    async () => {
      const where = await withData(await seededFolder(() => {}));
      const gateway = await running(where.folder);
      const during = await weirProcess(where, "check");
      expect([during.code, during.output]).toEqual([
        1,
        expect.stringContaining(`${where.dataDir} is in use by process ${process.pid}`),
      ]);
      await gateway.stop();
      const after = await weir(where, "check");
      expect([after.code, after.output]).toEqual([
        0,
        expect.stringContaining(`${where.dataDir}, of an earlier start`),
      ]);
    },
    120_000,
  );

  test("O29: every fault is told at once, and the exit code is 1", async () => {
    const configDir = smallConfig();
    writeFileSync(join(configDir, "models/bad.yaml"), "vendor: bad\nmodel: []\n");
    const file = join(testFolder(), "file");
    writeFileSync(file, "");
    const where = await place({ CONFIG_DIR: configDir, DATA_DIR: file, HOST: "192.0.2.1" });
    const { code, output } = await weir(where, "check");
    expect(code).toBe(1);
    for (const line of [
      "HOST=192.0.2.1 is no address of this machine",
      `DATA_DIR=${file} is no folder`,
      `${join(configDir, "models/bad.yaml")}:`,
      "A start would be refused.",
    ]) {
      expect(output).toContain(line);
    }
    writeFileSync(join(configDir, "weir.yaml"), "grant_usd: -1\n");
    writeFileSync(join(configDir, "plans.yaml"), "plans: none\n");
    writeFileSync(join(configDir, "fx.yaml"), "rate: 1\n");
    writeFileSync(join(configDir, "supplier.yaml"), "legal: 1\n");
    const files = await weir(where, "check");
    expect(files.code).toBe(1);
    for (const name of ["weir.yaml", "plans.yaml", "fx.yaml", "supplier.yaml", "models/bad.yaml"])
      expect(files.output).toContain(`${join(configDir, name)}:`);
    rmSync(join(configDir, "weir.yaml"));
    const settings = await weir({ env: { ...where.env, LOG_LEVEL: "loud" } }, "check");
    expect([settings.code, settings.output]).toEqual([1, expect.stringContaining("LOG_LEVEL: ")]);
  });
});

describe("O15: weir keys create", () => {
  test("O15: refused while the gateway runs; a key that can do everything once it is stopped", async () => {
    const where = await withData(await seededFolder(() => {}));
    const first = await running(where.folder);
    const early = await weirProcess(where, "keys", "create");
    expect(early.code).toBe(1);
    expect(early.stderr).toContain(`is in use by process ${process.pid}`);
    expect(early.stderr).toContain("stop the gateway first");
    await first.stop();

    const { code, output } = await weir(where, "keys", "create", "--name", "Way back");
    const file = join(where.dataDir, "new-key");
    expect([code, output]).toEqual([0, expect.stringContaining(`Its secret is in ${file}`)]);
    expect(modeOf(file)).toBe(0o600);
    const secret = readFileSync(file, "utf8").trim();
    expect(output).not.toContain(secret);

    const again = await running(where.folder);
    const call = (path: string, init: RequestInit = {}) =>
      fetch(`${again.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      });
    const { data } = (await (await call("/v1/keys")).json()) as {
      data: { name: string; scopes: string[] }[];
    };
    const made = data.find(({ name }) => name === "Way back");
    const owners = data.find(({ name }) => name === "First live key");
    expect(made?.scopes).toEqual(owners?.scopes);
    const created = await call("/v1/keys", { method: "POST", body: JSON.stringify({ name: "Made by it" }) });
    expect(created.status).toBe(201);
    await again.stop();
  });

  test("O15: refused in the folder of a cell, whose keys all cells have", async () => {
    const where = await withData(await seededFolder(() => {}));
    const store = openStore(where.dataDir);
    const keys = () =>
      new AccountTables(store).workingKeys(new AccountTables(store).oldestOrg()?.id ?? "", 0);
    await store.act(() => store.table("cells.membership").put("dataset", { id: "d", cell: "local-1" }));
    const before = keys().length;
    await store.close();
    const { code, stderr } = await weir(where, "keys", "create");
    expect([code, stderr]).toEqual([1, expect.stringContaining("would be unknown to the other cells")]);
    expect(existsSync(join(where.dataDir, "new-key"))).toBe(false);
    const again = openStore(where.dataDir);
    expect(
      new AccountTables(again).workingKeys(new AccountTables(again).oldestOrg()?.id ?? "", 0),
    ).toHaveLength(before);
    await again.close();
  });

  test("O15: scopes, a file of one's own, and what is refused", async () => {
    const none = await weir(await place(), "keys", "create");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("holds no gateway's data")]);
    const where = await withData(await seededFolder(() => {}));
    const out = join(testFolder(), "ops-key");
    const wrong = await weir(where, "keys", "create", "--scopes", "inference,write:kyes");
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      '--scopes: there is no scope "write:kyes"; did you mean "write:keys"?\n',
    ]);
    expect((await weir(where, "keys", "create", "--scopes", "read:usage,inference", "--out", out)).code).toBe(
      0,
    );
    expect(modeOf(out)).toBe(0o600);
    const taken = await weir(where, "keys", "create", "--out", out);
    expect([taken.code, taken.stderr]).toEqual([1, `--out: ${out} is there already\n`]);

    const store = openStore(where.dataDir);
    const accounts = new AccountTables(store);
    const org = accounts.oldestOrg();
    const keys = accounts.workingKeys(org?.id ?? "", Date.now());
    expect(keys.map(({ name, scopes }) => [name, scopes.length])).toContainEqual(["Made on the machine", 2]);
    expect(keys).toHaveLength(3);
    await store.close();
  });
});
