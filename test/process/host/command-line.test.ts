/**
 * The command line: what its words mean, what is refused with which hint, and what the launcher does on a Node that
 * cannot run the sources.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { Command, Given } from "../../../src/host/commands/command.ts";
import { runCommandLine } from "../../../src/host/commands/command-line.ts";
import { removeFolder } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

const REPO = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
afterAll(() => removeFolder(folder));

/** Commands that note what they were given. */
function sample() {
  const ran: [string, Given][] = [];
  const row = (name: string, fields: Partial<Command> = {}): Command => ({
    name,
    summary: `Does ${name}.`,
    options: {},
    run: async (given) => {
      ran.push([name, given]);
      return 7;
    },
    ...fields,
  });
  const commands = [
    row("start"),
    row("check"),
    row("check --data", { operand: "DIR" }),
    row("keys create", { options: { name: { type: "string", value: "NAME", summary: "Its name." } } }),
    row("recover", {
      options: {
        data: { type: "string", value: "DIR", summary: "Where." },
        yes: { type: "boolean", summary: "Do it." },
      },
    }),
  ];
  return { ran, commands };
}

async function typed(line: string, commands?: readonly Command[]) {
  const said: { out: string[]; err: string[] } = { out: [], err: [] };
  const shell = {
    env: {},
    isTerminal: false,
    out: (text: string) => said.out.push(text),
    err: (text: string) => said.err.push(text),
  };
  const code = await runCommandLine(line.split(" ").filter(Boolean), shell, commands);
  return { code, out: said.out.join(""), err: said.err.join("") };
}

describe("O29: words and commands", () => {
  test.each<[string, string, Given]>([
    ["", "start", { options: {}, operand: undefined }],
    ["start", "start", { options: {}, operand: undefined }],
    ["check", "check", { options: {}, operand: undefined }],
    ["check --data", "check --data", { options: {}, operand: undefined }],
    ["check --data /srv/x", "check --data", { options: {}, operand: "/srv/x" }],
    ["check --data=/srv/x", "check --data", { options: {}, operand: "/srv/x" }],
    [
      "recover --yes --data /srv/x",
      "recover",
      { options: { yes: true, data: "/srv/x" }, operand: undefined },
    ],
    ["keys create --name=ops", "keys create", { options: { name: "ops" }, operand: undefined }],
  ])("O29: weir %s", async (line, name, given) => {
    const { ran, commands } = sample();
    expect(await typed(line, commands)).toEqual({ code: 7, out: "", err: "" });
    expect(ran).toEqual([[name, given]]);
  });

  test.each([
    ["strat", 'there is no command "strat"; did you mean "start"?'],
    ["keys", 'there is no command "keys"; did you mean "keys create"?'],
    ["keys craete", 'there is no command "keys"; did you mean "keys create"?'],
    ["frobnicate", 'there is no command "frobnicate"'],
    ["recover --yse", 'weir recover does not take --yse; did you mean "--yes"?'],
    ["recover -y", "weir recover does not take -y"],
    ["--hepl", 'weir start does not take --hepl; did you mean "--help"?'],
    ["--port 80", "weir start does not take --port; set the environment variable PORT"],
    ["--data-dir=x", "weir start does not take --data-dir; set the environment variable DATA_DIR"],
    ["start now", 'weir start does not take "now"'],
    ["check --data a b", 'weir check --data does not take "b"'],
    ["recover --data", "--data needs a value"],
    ["recover --data a --data b", "--data is given twice"],
    ["recover --yes=no", 'weir recover does not take "no"'],
  ])("O29: weir %s is refused, with what was meant", async (line, said) => {
    const { ran, commands } = sample();
    const { code, out, err } = await typed(line, commands);
    expect([code, out, ran]).toEqual([2, "", []]);
    expect(err.split("\n")[0]).toBe(said);
  });

  test("O29: --help lists every command and option, --version is the package's", async () => {
    const { ran, commands } = sample();
    const { code, out } = await typed("--help", commands);
    expect(code).toBe(0);
    for (const part of [
      "weir check --data [DIR]",
      "weir keys create",
      "--name NAME",
      "--yes",
      "Does recover.",
    ]) {
      expect(out).toContain(part);
    }
    expect((await typed("recover --help", commands)).out).not.toContain("weir start");
    const { version } = JSON.parse(readFileSync(join(REPO, "package.json"), "utf8"));
    expect(await typed("--version")).toEqual({ code: 0, out: `${version}\n`, err: "" });
    expect(ran).toEqual([]);
  });
});

/** An older Node as far as the launcher can see: what it looks at is the version. */
function asNode20(): string {
  const file = join(folder, "node20.cjs");
  writeFileSync(
    file,
    'if (!process.env.WEIR_LAUNCHED) Object.defineProperty(process.versions, "node", { value: "20.20.2" });',
  );
  return file;
}

const LAUNCHER = join(REPO, "scripts/weir.mjs");
const bundledNode = join(REPO, "node_modules/.bin/node");

describe("O29: the launcher", () => {
  test("O29: the sources' entry is not what npm's bin names: a Node 20 cannot even parse it", () => {
    const { bin, scripts, license } = JSON.parse(readFileSync(join(REPO, "package.json"), "utf8"));
    expect(bin.weir).toBe("scripts/weir.mjs");
    const flags = /const FLAGS = (\[[^\]]*\])/.exec(readFileSync(LAUNCHER, "utf8"))?.[1]?.match(/--[^"]+/g);
    expect(flags?.length).toBeGreaterThan(0);
    const allocator = [...readFileSync(LAUNCHER, "utf8").matchAll(/^ {2}(MALLOC_\w+): "(\d+)",$/gm)];
    expect(allocator.length).toBeGreaterThan(0);
    const environment = allocator.map(([, name, value]) => `${name}=${value}`).join(" ");
    expect(scripts.start).toBe(`exec env ${environment} node ${flags?.join(" ")} scripts/weir.mjs`);
    expect(license).toBe("Apache-2.0");
    expect(readFileSync(join(REPO, "LICENSE"), "utf8")).toContain("Apache License");
  });

  test.skipIf(!existsSync(bundledNode))(
    "O29: an older Node runs it by the Node 22 that the packages brought (skipped where they brought none)",
    () => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ["--require", asNode20(), LAUNCHER, "--version"],
        { encoding: "utf8" },
      );
      expect([status, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    },
  );

  test("O29: without one it says so in one clear line", () => {
    const away = mkdtempSync(join(folder, "away-"));
    const copy = join(away, "weir.mjs");
    writeFileSync(copy, readFileSync(LAUNCHER));
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--require", asNode20(), copy], {
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Weir runs on Node 22\.18 or newer, and this is v[\d.]+\. .*npm install.*\n$/);
  });

  /** The launcher with a child of its own: it is started without the flags. */
  function launched() {
    const child = spawn(process.execPath, [LAUNCHER], {
      env: {
        ...process.env,
        PORT: "0",
        CONFIG_DIR: join(REPO, "config"),
        DATA_DIR: mkdtempSync(join(folder, "data-")),
        // Nothing listens there: without the embedded engine a start is light.
        CLICKHOUSE_URL: "http://127.0.0.1:1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += data));
    const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.once("exit", (code, signal) => resolve([code, signal])),
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const url = async () => {
      await until("it is ready", () => text.includes("ready at "));
      return /ready at (\S+)/.exec(text)?.[1] ?? "";
    };
    return { child, ended, url };
  }

  test("O29: SIGTERM to the launcher drains the gateway, and its exit code is the launcher's", async () => {
    const { child, ended, url } = launched();
    const health = `${await url()}/healthz`;
    expect((await fetch(health)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    await expect(fetch(health)).rejects.toThrow();
  });

  test("O29: kill -9 of the launcher leaves no gateway behind", async () => {
    const { child, ended, url } = launched();
    const health = `${await url()}/healthz`;
    child.kill("SIGKILL");
    expect(await ended).toEqual([null, "SIGKILL"]);
    await until("the gateway is gone too", () =>
      fetch(health, { headers: { connection: "close" } }).then(
        () => false,
        () => true,
      ),
    );
  });
});
