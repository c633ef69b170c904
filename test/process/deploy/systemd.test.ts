/** The systemd unit: systemd reads it without a complaint, it is closed off, and what it starts starts, reloads and stops. */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missingCommand } from "../../support/debian.ts";
import {
  asImageUser,
  deployFile,
  imageUserFolder,
  unitSettings,
  unreadable,
} from "../../support/deploy/fixtures.ts";
import { place, REPO, run, testFolder } from "../../support/process.fixtures.ts";
import { until } from "../../support/wait.ts";

const reason = missingCommand("systemd-analyze", "systemd");
/** The most is 10. What is left is the network, which a gateway is for, and rights that Node needs. */
const MOST_EXPOSURE = 1.5;

/** `systemd-analyze` on the unit, with programs where they are on this machine. */
function analyze(verb: readonly string[], unit: string) {
  const file = join(testFolder(), "weir.service");
  writeFileSync(file, unit.replaceAll("/opt/weir", REPO));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", [...verb, file], { encoding: "utf8" });
  return { status, text: `${stdout}${stderr}` };
}

test("systemd-analyze verify has no complaint about the unit, and one about a misspelled line", ({
  skip,
}) => {
  skip(reason !== undefined, reason);
  const unit = deployFile("weir.service");
  expect(analyze(["verify", "--man=no"], unit)).toEqual({ status: 0, text: "" });
  const misspelled = unit.replace("TimeoutStopSec=", "TimeoutStopSecs=");
  expect(analyze(["verify", "--man=no"], misspelled).text).toContain("Unknown key");
  const wrong = unit.replace("KillMode=mixed", "KillMode=mix");
  expect(analyze(["verify", "--man=no"], wrong).text).not.toBe("");
});

test("systemd-analyze security rates the unit below 1.5 of 10, and without its filters above", ({ skip }) => {
  skip(reason !== undefined, reason);
  const args = ["security", "--offline=true", `--threshold=${MOST_EXPOSURE * 10}`];
  if (!spawnSync("systemd-analyze", ["--help"], { encoding: "utf8" }).stdout.includes("--threshold")) {
    skip(true, "this systemd has no --threshold");
  }
  const unit = deployFile("weir.service");
  expect(analyze(args, unit).status).toBe(0);
  expect(analyze(args, unit.replace(/^SystemCallFilter=.*$/gm, "")).status).not.toBe(0);
});

test("what the unit starts runs for a user who is not root, reloads by ExecReload and drains on SIGTERM", {
  timeout: 120_000,
}, async ({ skip }) => {
  skip(unreadable !== undefined, unreadable);
  const unit = unitSettings();
  const value = (name: string) => unit.get(name)?.join(" ") ?? "";
  const dataDir = join(imageUserFolder(), "data");
  const unitsOwn = Object.fromEntries(
    (unit.get("Environment") ?? []).map((pair) => pair.split("=") as [string, string]),
  );
  // The catalog is the shipped one, which an installation copies to CONFIG_DIR.
  const where = await place({ ...unitsOwn, DATA_DIR: dataDir, CONFIG_DIR: join(REPO, "config") });
  const [program = "", ...args] = value("ExecStart").replaceAll("/opt/weir", REPO).split(" ");
  const gateway = run(program, args, {
    ...asImageUser,
    env: where.env,
    cwd: value("WorkingDirectory").replace("/opt/weir", REPO),
    stdio: ["ignore", "pipe", "pipe"],
  });
  await where.ready();
  // One process: a launcher between systemd and the gateway would hide its end.
  const pid = `"pid":${gateway.child.pid},`;
  await until("its log says that it is the process that was started", () => gateway.output().includes(pid));
  expect(statSync(dataDir).mode & 0o777).toBe(Number.parseInt(value("StateDirectoryMode"), 8));
  const kill = value("ExecReload").replace("$MAINPID", String(gateway.child.pid)).split(" ");
  expect(spawnSync(kill[0] ?? "", kill.slice(1)).status).toBe(0);
  await until("the catalog was read again", () => gateway.output().includes("the catalog was read again"));
  gateway.child.kill(value("KillSignal") as NodeJS.Signals);
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  expect(gateway.output()).toContain("everything is saved");
});

test("the unit's Node is the one of the lock file", () => {
  const program = unitSettings().get("ExecStart")?.[0]?.split(" ")[0]?.replace("/opt/weir", REPO) ?? "";
  const { packages } = JSON.parse(readFileSync(join(REPO, "package-lock.json"), "utf8"));
  const locked = packages[`node_modules/node-${process.platform}-${process.arch}`]?.version;
  expect(spawnSync(program, ["--version"], { encoding: "utf8" }).stdout.trim()).toBe(`v${locked}`);
});
