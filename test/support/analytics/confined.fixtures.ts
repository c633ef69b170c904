/** An engine with secrets planted around it, and the analysts' process beside it. */
import { type ChildProcess, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { launch } from "../../../src/analytics/engine/confined-process.ts";
import {
  type AnalystsSetting,
  type Confinement,
  probeConfinement,
} from "../../../src/analytics/engine/confinement.ts";
import type { Found, Tries } from "./confined.probe.ts";

export const CANARY = "canary-of-a-secret-7f3d";

export const confinement = await probeConfinement("confined");
/** Why tests that need namespaces are skipped; empty where they run. */
export const reason =
  confinement.kind === "off" ? `(skipped: ${confinement.reason} ${confinement.detail ?? ""})` : "";

/** For tests of what analysts read, wherever they run. */
export const asAllowed: AnalystsSetting = reason === "" ? "confined" : "unconfined";

/** Files with secrets: of the data folder, of the temporary folder, of the home. */
export function plant(dataDir: string): { paths: string[]; remove: () => void } {
  const elsewhere = [tmpdir(), homedir()].map((folder) => mkdtempSync(join(folder, "weir-planted-")));
  const paths = [
    ...["secrets.key", "operator-key", "first-key", "clickhouse/secret.csv"].map((name) =>
      join(dataDir, name),
    ),
    ...elsewhere.map((folder) => join(folder, "secret")),
  ];
  for (const path of paths) writeFileSync(path, `${CANARY}\n`, { mode: 0o600 });
  const remove = () => {
    for (const folder of elsewhere) rmSync(folder, { recursive: true, force: true });
  };
  return { paths, remove };
}

/** A server at a port, a path, or an abstract name. */
export function listen(at: number | string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    if (typeof at === "number") server.listen(at, "127.0.0.1", () => resolve(server));
    else server.listen(at, () => resolve(server));
  });
}

const PROBE = fileURLToPath(new URL("./confined.probe.ts", import.meta.url));

/** Runs the probe as the analysts' process. @throws Error with its last words */
export async function probed(
  engineFolder: string,
  tries: Partial<Tries>,
  how: Confinement = confinement,
): Promise<Found> {
  if (how.kind === "off") throw new Error(how.reason);
  const child: ChildProcess = await launch({ confinement: how, engineFolder, program: PROBE });
  child.stdin?.end(
    JSON.stringify({
      read: [],
      write: [],
      connect: [],
      sql: [],
      walk: false,
      canary: CANARY,
      ...tries,
    }),
  );
  if (child.stdout === null || child.stderr === null) throw new Error("no output");
  const [said, faults] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (said === "") throw new Error(faults);
  return JSON.parse(said);
}

/** Processes below this one. */
export function descendants(pid: number): number[] {
  const children = processes().filter((one) => one.parent === pid && one.state !== "Z");
  return children.flatMap((one) => [one.pid, ...descendants(one.pid)]);
}

export const isRunning = (pid: number): boolean =>
  processes().some((one) => one.pid === pid && one.state !== "Z");

function processes(): { pid: number; parent: number; state: string }[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,stat="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => {
    const [pid = "", parent = "", state = ""] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), state: state.charAt(0) };
  });
}
