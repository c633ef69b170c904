/** The commands beside a start: `weir check` (O29), `weir keys create` (O15). */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AccountTables } from "../../../src/account/tables.ts";
import { openStore } from "../../../src/store/store.ts";
import { seededFolder } from "../../support/gateway.ts";
import { place, smallConfig, testFolder } from "../../support/process.fixtures.ts";

import { running, weir, weirProcess, withData } from "./commands.fixtures.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;

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
    expect(await stateOf({ REDIS_URL: redisUrl, CELLS: "3" })).toEqual([
      1,
      expect.stringContaining("CELL: is needed with REDIS_URL"),
    ]);
    const bare = testFolder();
    const lacks =
      "several cells share their state in Redis, and neither redis-server nor valkey-server is on PATH";
    expect(await stateOf({ CELLS: "3", PATH: bare })).toEqual([1, expect.stringContaining(lacks)]);
    const program = join(bare, "redis-server");
    writeFileSync(program, "", { mode: 0o755 });
    const serves = `in a Redis of the data folder, which ${program} serves; 3 cells here`;
    expect(await stateOf({ CELLS: "3", PATH: bare })).toEqual([0, serves]);
    const dataDir = join(testFolder(), "data");
    mkdirSync(join(dataDir, "cells"), { recursive: true });
    const had = `${dataDir} holds the data of several cells: set the REDIS_URL that they had`;
    for (const CELLS of ["1", "3"])
      expect(await stateOf({ CELLS, PATH: bare, DATA_DIR: dataDir })).toEqual([1, had]);
  });

  test("O29: says by which proxies providers are called, without their passwords (T61)", async () => {
    const direct = await weir(await place({}), "check");
    expect(direct.output).toMatch(
      /^proxies +none in the environment: providers that name none are called directly$/m,
    );
    const where = await place({
      https_proxy: "http://me:s3cret@proxy.test:3128",
      ALL_PROXY: "socks5h://socks.test",
    });
    const { code, output } = await weir(where, "check");
    expect(code).toBe(0);
    const told =
      "http addresses by socks5h://socks.test:1080, https addresses by http://proxy.test:3128 with a password";
    expect(output).toContain(`proxies        ${told}`);
    const around = "https://me:s3cret@a.test, vllm.internal, 10.*";
    const odd = await weir(await place({ HTTP_PROXY: "http://proxy.test", NO_PROXY: around }), "check");
    expect(odd.code).toBe(0);
    expect(odd.output).toContain(
      "NO_PROXY: its entries 1, 3 mean nothing; write names, addresses or ranges, as vllm.internal, 10.0.0.0/8",
    );
    const wrong = await weir(await place({ HTTP_PROXY: "ftp://me:s3cret@proxy.test" }), "check");
    expect([wrong.code, wrong.output]).toEqual([
      1,
      expect.stringContaining("HTTP_PROXY: must be an http, https, socks5 or socks5h URL"),
    ]);
    expect(`${output}${odd.output}${wrong.output}`).not.toMatch(/s3cret/);
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
