/**
 * Allows one process per data folder. The claim is a row in LMDB, written under LMDB's cross-process write lock, so of
 * two processes that start together only one wins; a claim of a dead process (kill -9) is taken over at once.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { RootDatabase } from "lmdb";

interface Claim {
  readonly pid: number;
  /** Start time of that process, so that a reused pid is not mistaken for it. */
  readonly started: string;
}

/** The table of the one row. */
export const CLAIMS = "process";

/**
 * @param pid the process that claims
 * @returns a function that releases the claim. @throws Error when a running process holds the folder.
 */
export function claimDirectory(root: RootDatabase, dataDir: string, pid = process.pid): () => void {
  const claims = root.openDB<Claim, string>(CLAIMS, { encoding: "json" });
  const mine: Claim = { pid, started: startOf(pid) };
  const holder = claims.transactionSync(() => {
    const claim = claims.get("claim");
    const alive =
      claim !== undefined &&
      !(claim.pid === mine.pid && claim.started === mine.started) &&
      startOf(claim.pid) === claim.started;
    if (!alive) claims.putSync("claim", mine);
    return alive ? claim : undefined;
  });
  if (holder !== undefined) {
    throw inUse(dataDir, holder.pid);
  }
  return () => void claims.removeSync("claim");
}

/** Whether a claim row is readable: it is JSON, without a checksum. */
export function isClaim(row: Uint8Array): boolean {
  try {
    const { pid, started } = JSON.parse(Buffer.from(row).toString()) as Partial<Claim>;
    return typeof pid === "number" && typeof started === "string";
  } catch {
    return false;
  }
}

/** The running process that holds the folder, by the claim in LMDB; undefined where there is none. */
export function holderOf(claim: Uint8Array): number | undefined {
  const { pid, started } = JSON.parse(Buffer.from(claim).toString()) as Claim;
  return startOf(pid) === started && !(pid === process.pid && started === startOf(process.pid))
    ? pid
    : undefined;
}

export const inUse = (dataDir: string, pid: number): Error =>
  new Error(`${dataDir} is in use by process ${pid}; one process a data folder`);

/** Identifies the process with this pid by its start time; empty when there is no such process. */
function startOf(pid: number): string {
  try {
    // The fields after the last ")" are fixed; the name before it may hold anything. proc(5): starttime is field 22.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    if (process.platform === "linux") return "";
  }
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}
