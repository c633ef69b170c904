/**
 * Whether this system lets the gateway confine the process that runs analysts' statements, found out by doing it once. Where it
 * does not, analysts' users of the embedded engine are off, unless the operator has chosen otherwise.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Namespaces, PROGRAM, rootCommand, rootEnvironment } from "./confined-root.ts";

const run = promisify(execFile);

/** `analytics.analysts` of weir.yaml. */
export type AnalystsSetting = "confined" | "unconfined" | "off";

export type Confinement =
  | { readonly kind: "namespaces"; readonly namespaces: Namespaces }
  | { readonly kind: "unconfined" }
  /** Analysts' users are off. @property detail for the operator: what the system said */
  | { readonly kind: "off"; readonly reason: string; readonly detail?: string };

const PROBE_MS = 20_000;
const LONGEST_REASON = 300;

/** Makes a root as the analysts' process has it, and executes Node in it. Takes about a tenth of a second, in other processes. */
export async function probeConfinement(setting: AnalystsSetting): Promise<Confinement> {
  if (setting === "unconfined") return { kind: "unconfined" };
  if (setting === "off") return { kind: "off", reason: "weir.yaml says analytics.analysts: off" };
  if (process.platform !== "linux") {
    return { kind: "off", reason: `${process.platform} has no namespaces to confine a process in` };
  }
  const isRoot = process.geteuid?.() === 0;
  let detail = "";
  for (const namespaces of ["user", ...(isRoot ? (["root"] as const) : [])] as const) {
    try {
      await tryOnce(namespaces);
      return { kind: "namespaces", namespaces };
    } catch (error) {
      detail ||= reasonOf(error);
    }
  }
  return {
    kind: "off",
    reason: "this system lets the gateway make no namespaces to confine them in",
    detail,
  };
}

async function tryOnce(namespaces: Namespaces): Promise<void> {
  const [mountPoint, scratch] = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), "weir-probe-"))));
  if (mountPoint === undefined || scratch === undefined) return;
  try {
    const execute = [`${PROGRAM}/node`, "--version"];
    const { file, args } = await rootCommand({
      namespaces,
      mountPoint,
      scratch,
      visible: [],
      linked: [],
      execute,
    });
    await run(file, args, { env: rootEnvironment(namespaces), timeout: PROBE_MS, killSignal: "SIGKILL" });
  } finally {
    await Promise.all([rmdir(mountPoint), rmdir(scratch)]);
  }
}

/** What the tool said last, or that it took too long. */
function reasonOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: unknown; message: string };
  const said = typeof stderr === "string" ? stderr.trim().split("\n").at(-1) : undefined;
  return (said || message).slice(0, LONGEST_REASON);
}

/** For the operator: `weir check`, and the line of a start. */
export function confinementText(confinement: Confinement): string {
  if (confinement.kind === "unconfined") {
    return "analysts' statements run unconfined, with the rights of the gateway's process over files and networks";
  }
  if (confinement.kind === "namespaces")
    return "analysts' statements run in a process confined by namespaces";
  return offText(confinement.reason, confinement.detail);
}

/** With what the operator can do about it. @param detail what the system said, for the operator: analysts and tenants are not told that */
export const offText = (reason: string, detail = ""): string =>
  `analysts' users are off: ${reason}${detail === "" ? "" : ` (${detail})`}. ${CURE}`;

const CURE =
  "The operator can allow the gateway user namespaces, set CLICKHOUSE_URL to a server, or set analytics.analysts: unconfined in weir.yaml (docs/operating.md).";
