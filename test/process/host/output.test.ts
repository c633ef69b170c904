/**
 * O11: nothing that happens to the terminal, the pipe or the file that takes the log holds up the gateway. Lines that
 * cannot be written are dropped and counted.
 */
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Output } from "../../../src/base/process/output.ts";
import {
  hasPython,
  MAIN,
  metric,
  pidOf,
  place,
  REPO,
  run,
  smallConfig,
  testFolder,
} from "../../support/process.fixtures.ts";
import { equals, until } from "../../support/wait.ts";

/** Starts the command behind it on a new terminal, says its pid, and closes the terminal when a line comes. */
const ON_A_TERMINAL = `
import os, pty, subprocess, sys, threading
lead, follow = pty.openpty()
own = sys.argv[1] == "own"
def claim():
    os.setsid()
    import fcntl, termios
    fcntl.ioctl(follow, termios.TIOCSCTTY, 0)
child = subprocess.Popen(sys.argv[2:], stdin=follow, stdout=follow, stderr=follow, preexec_fn=claim if own else None)
os.close(follow)
print("pid", child.pid, flush=True)
seen = b""
def read():
    global seen
    while True:
        try:
            part = os.read(lead, 65536)
        except OSError:
            return
        if not part: return
        seen += part
        sys.stdout.write(part.decode(errors="replace")); sys.stdout.flush()
threading.Thread(target=read, daemon=True).start()
sys.stdin.readline()
os.close(lead)
print("closed", flush=True)
print("code", child.wait(), flush=True)
`;

/** It answers while its log goes nowhere, and counts the lines that it could not write: each SIGHUP leaves one. */
async function answersAndCounts(url: string, pid: number): Promise<void> {
  await until("lost lines are counted", async () => {
    process.kill(pid, "SIGHUP");
    return (await metric(url, "weir_log_lines_dropped_total")) > 0;
  });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
}

/** From here on every reload leaves a thousand lines of more than a kilobyte: more than a pipe and the queue take. */
function breakCatalog(configDir: string): void {
  const keys = Array.from({ length: 100 }, (_, i) => `  - ${`wrong_${i}`.padEnd(1000, "_")}: 1\n`);
  for (let i = 0; i < 15; i++) {
    writeFileSync(join(configDir, `models/bad-${i}.yaml`), `vendor: bad\nmodels:\n${keys.join("")}`);
  }
}

test.skipIf(!hasPython).each(["own", "shared"])(
  "O11: a closed terminal (%s) leaves a gateway that answers, counts lost lines, and ends on SIGTERM (skipped without python3)",
  { timeout: 120_000 },
  async (kind) => {
    const where = await place();
    const { child, output } = run("python3", ["-c", ON_A_TERMINAL, kind, process.execPath, MAIN], {
      env: where.env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const pid = await pidOf(child, output);
    await until("the start screen is on the terminal", () => output().includes("API reference"));
    const key = where.key();
    // O14: a terminal, and the first start.
    expect(output()).toContain(key);

    child.stdin?.write("close\n");
    await until("the terminal is closed", () => output().includes("closed"));
    process.kill(pid, "SIGHUP");
    await answersAndCounts(where.url, pid);

    process.kill(pid, "SIGTERM");
    await until("it ends", () => output().includes("code 0"));
  },
);

test("O11: a pipe that nobody reads does not stop the loop; later lines are dropped and counted", async () => {
  const configDir = smallConfig();
  const where = await place({ CONFIG_DIR: configDir });
  const { child, ended } = run(process.execPath, [MAIN], {
    env: where.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await where.ready();
  child.stderr?.removeAllListeners("data").pause();
  breakCatalog(configDir);
  await answersAndCounts(where.url, child.pid ?? 0);
  child.kill("SIGTERM");
  child.stderr?.resume();
  expect((await ended).code).toBe(0);
});

/** A gateway whose log goes into a full pipe that the test never reads. SIGUSR2 makes it fail with an uncaught error. */
async function withFullPipe() {
  const configDir = smallConfig();
  const where = await place({ CONFIG_DIR: configDir });
  const failOnDemand = `data:text/javascript,process.on("SIGUSR2", () => { throw new Error("a fault on demand"); })`;
  const { child } = run(process.execPath, ["--import", failOnDemand, MAIN], {
    env: where.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr?.removeAllListeners("data").pause();
  await where.ready();
  breakCatalog(configDir);
  await answersAndCounts(where.url, child.pid ?? 0);
  return child;
}

test.each([
  ["SIGTERM", "SIGTERM", 0],
  ["an uncaught error", "SIGUSR2", 1],
] as const)(
  "O11: %s ends a gateway although nothing ever reads the full pipe of its log",
  async (_, signal, code) => {
    const child = await withFullPipe();
    child.kill(signal);
    await until("it ends", () => child.exitCode !== null || child.signalCode !== null);
    expect([child.exitCode, child.signalCode]).toEqual([code, null]);
  },
  120_000,
);

test("O11: lines for a reader that takes nothing are bounded, and come in order once it reads", async () => {
  const folder = testFolder();
  const script = join(folder, "writer.ts");
  writeFileSync(
    script,
    `import { Output } from ${JSON.stringify(join(REPO, "src/base/process/output.ts"))};
     const out = new Output(1, 256 * 1024);
     const before = process.cpuUsage();
     for (let i = 0; i < 10_000; i++) out.write(String(i).padStart(99, "0") + "\\n");
     const { user, system } = process.cpuUsage(before);
     process.send({ cpuMs: (user + system) / 1000, dropped: out.dropped });
     process.once("message", async () => {
       await out.flush(60_000);
       // Once they are read the pipe has room: the end of the process waits a quarter of a second for its reader.
       process.once("message", () => {
         out.write("the last line\\n");
         out.flushSync();
         process.exit(out.dropped > 0 ? 3 : 4);
       });
       process.send("flushed");
     });`,
  );
  const { child, ended } = run(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const stdout = child.stdout as NonNullable<typeof child.stdout>;
  stdout.removeAllListeners("data");
  stdout.pause();
  const told = await new Promise<{ cpuMs: number; dropped: number }>((resolve) =>
    child.once("message", (message) => resolve(message as { cpuMs: number; dropped: number })),
  );
  expect(told.dropped).toBeGreaterThan(5000);
  expect(told.cpuMs).toBeLessThan(2000);
  let text = "";
  stdout.on("data", (data) => {
    text += data;
  });
  stdout.resume();
  const flushed = new Promise((resolve) => child.once("message", resolve));
  child.send("go");
  await flushed;
  await until("all that was kept is read", () => text.split("\n").length - 1, equals(10_000 - told.dropped));
  child.send("end");
  expect((await ended).code).toBe(3);
  const lines = text.trimEnd().split("\n");
  expect(lines.at(-1)).toBe("the last line");
  const numbers = lines.slice(0, -1).map(Number);
  expect(numbers).toEqual(numbers.map((_, i) => i));
  expect(numbers.length + told.dropped).toBe(10_000);
});

test("O11: a closed pipe: lines are dropped, and SIGTERM ends it with 0", async () => {
  const where = await place();
  const { child, ended } = run(process.execPath, [MAIN], {
    env: where.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  await where.ready();
  child.stdout?.destroy();
  child.stderr?.destroy();
  await answersAndCounts(where.url, child.pid ?? 0);
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
});

test.skipIf(!existsSync("/dev/full"))(
  "O11: a full disk under the log's file: lines are dropped and counted (skipped without /dev/full)",
  async () => {
    const full = openSync("/dev/full", "w");
    const where = await place();
    const { child, ended } = run(process.execPath, [MAIN], { env: where.env, stdio: ["ignore", full, full] });
    closeSync(full);
    await where.ready();
    await answersAndCounts(where.url, child.pid ?? 0);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  },
  120_000,
);

test("O11: the last lines come out: why it ended, also where that was a fault", async () => {
  const folder = testFolder();
  const file = join(folder, "log");
  const fd = openSync(file, "a");
  const where = await place();
  const { child, ended } = run(process.execPath, [MAIN], { env: where.env, stdio: ["ignore", "ignore", fd] });
  closeSync(fd);
  await where.ready();
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
  const lines = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.find(({ msg }) => msg === "started")).toMatchObject({
    address: where.url,
    dataDir: where.dataDir,
    engine: "server",
    version: expect.any(String),
    models: expect.any(Number),
  });
  expect(lines.at(-1)).toMatchObject({ signal: "SIGTERM", msg: "stopped by SIGTERM: everything is saved" });
});

test("O11: lines to a closed descriptor are counted", async () => {
  const fd = openSync(join(testFolder(), "log"), "a");
  const output = new Output(fd);
  closeSync(fd);
  output.write("one\n");
  output.write("two\nthree\n");
  await output.flush(5000);
  expect(output.dropped).toBe(3);
});
