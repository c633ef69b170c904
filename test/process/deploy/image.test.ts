/** The Dockerfile: linted, and what it would put into an image runs as process 1 of a namespace, stops and tells its health. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import {
  deployFile,
  IMAGE_USER,
  imageEnvironment,
  imageUserFolder,
  instruction,
  instructions,
  unreadable,
} from "../../support/deploy/fixtures.ts";
import { place, REPO, run } from "../../support/process.fixtures.ts";
import { until } from "../../support/wait.ts";

/** Why no process can be process 1 here; undefined where one can. */
const noNamespaces =
  spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0
    ? undefined
    : "this user may make no process namespace";

const faults = (text: string) =>
  validate(text).map(({ range, message }) => `${range.start.line + 1}: ${message}`);

/** What is copied from the repository, with where to. */
const copied = () =>
  instructions()
    .filter(({ name, rest }) => name === "COPY" && !rest.startsWith("--from="))
    .flatMap(({ rest }) => {
      const paths = rest.split(" ");
      const to = paths.pop() ?? "";
      return paths.map((from) => ({ from, to: to.endsWith("/") ? join(to, from) : to }));
    });

test("the linter finds nothing in the Dockerfile, and finds what is misspelled", () => {
  const text = deployFile("Dockerfile");
  expect(faults(text)).toEqual([]);
  expect(faults(text.replace("ENTRYPOINT", "ENTRYPONT"))).toHaveLength(1);
  expect(faults(text.replace("--start-period", "--start-periods"))).toHaveLength(1);
  expect(faults(text.replace("EXPOSE 8787", "EXPOSE eight"))).toHaveLength(1);
});

test("both images have a fixed tag, and none is the latest", () => {
  const froms = instructions().filter(({ name }) => name === "FROM");
  expect(froms).toHaveLength(2);
  for (const { rest } of froms) expect(rest).toMatch(/^[a-z]+:\d+\.\d+/);
});

test("npm installs as the start script does, and never runs install scripts", () => {
  const [, npm = ""] =
    instructions()
      .find(({ name }) => name === "RUN")
      ?.rest.split("npm install ") ?? [];
  expect(npm.split(" ")).toEqual(expect.arrayContaining(["--no-save", "--omit=dev", "--ignore-scripts"]));
  const script = readFileSync(join(REPO, "scripts/install.mjs"), "utf8");
  for (const flag of ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"])
    expect(script).toContain(flag);
});

test("the builder is sent what the Dockerfile copies, and nothing else", () => {
  const lines = deployFile("Dockerfile.dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines[0]).toBe("*");
  const allowed = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const sources = copied().map(({ from }) => from);
  expect(sources.filter((from) => !allowed.includes(from))).toEqual([]);
  const unneeded = allowed.filter((path) => !sources.some((from) => `${from}/`.startsWith(`${path}/`)));
  expect(unneeded).toEqual([]);
  for (const path of allowed) expect(existsSync(join(REPO, path)), path).toBe(true);
  // `scripts` is let in for one file alone.
  expect(lines).toContain("scripts/*");
});

test("what the image holds starts as process 1 without root, tells its health and drains on SIGTERM", {
  timeout: 120_000,
}, async ({ skip }) => {
  skip(noNamespaces !== undefined, noNamespaces);
  skip(unreadable !== undefined, unreadable);
  const app = join(imageUserFolder(), "app");
  for (const { from, to } of copied()) {
    mkdirSync(dirname(join(app, to)), { recursive: true });
    cpSync(join(REPO, from), join(app, to), { recursive: true });
  }
  symlinkSync(join(REPO, "node_modules"), join(app, "node_modules"));
  const image = imageEnvironment();
  // Kubernetes gives the root of a volume to root and, by fsGroup, to the pod's group; the gateway makes its folder there.
  const volume = imageUserFolder();
  chownSync(volume, 0, IMAGE_USER);
  chmodSync(volume, 0o2770);
  const dataDir = join(volume, "weir");
  const where = await place({ DATA_DIR: dataDir, CONFIG_DIR: join(app, "config") });
  const env: Record<string, string> = {
    ...where.env,
    HOST: image.HOST ?? "",
    PATH: `${join(app, "node_modules/.bin")}:${process.env.PATH}`,
  };
  delete env.NODE_OPTIONS;
  const shell = ["--pid", "--fork", "--mount-proc", `--setgid=${IMAGE_USER}`, `--setuid=${IMAGE_USER}`];
  const entry: string[] = JSON.parse(instruction("ENTRYPOINT"));
  const outer = run("unshare", [...shell, ...entry], { env, cwd: app, stdio: ["ignore", "pipe", "pipe"] });
  await where.ready();

  await until("its log says that it is process 1", () => outer.output().includes('"pid":1,'));
  const health: string[] = JSON.parse(instruction("HEALTHCHECK").split(" CMD ")[1] ?? "[]");
  const healthOf = (more: Record<string, string>) =>
    spawnSync(health[0] ?? "", health.slice(1), { env: { ...env, ...more }, timeout: 10_000 }).status;
  expect([healthOf({}), healthOf({ PORT: "1" })]).toEqual([0, 1]);
  expect((await fetch(`${where.url}/readyz`)).status).toBe(200);

  const children = readFileSync(`/proc/${outer.child.pid}/task/${outer.child.pid}/children`, "utf8");
  process.kill(Number(children.trim()), instruction("STOPSIGNAL") as NodeJS.Signals);
  expect(await outer.ended).toEqual({ code: 0, signal: null });
  expect(outer.output()).toContain("everything is saved");
  expect(readdirSync(dataDir)).toContain("weir.lmdb");
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  expect(outer.output()).not.toContain("another user");
});

test("root alone can change the program, and the gateway's user only its data", () => {
  const stage = instructions().slice(instructions().findLastIndex(({ name }) => name === "FROM"));
  const user = stage.findIndex(({ name }) => name === "USER");
  expect(stage[user]?.rest).toBe(`${IMAGE_USER}:${IMAGE_USER}`);
  expect(stage.slice(user).some(({ name }) => name === "COPY" || name === "RUN")).toBe(false);
  expect(stage.some(({ name, rest }) => name === "COPY" && rest.includes("--chown"))).toBe(false);
  expect(instruction("VOLUME")).toBe(imageEnvironment().DATA_DIR);
});
