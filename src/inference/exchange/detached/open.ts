/** Opens the detached calls of a process: ends those that a killed one left, and finds the logs that are still kept. */
import { DetachedCalls, type DetachedPorts } from "./detached-calls.ts";
import { logCiphers } from "./log-cipher.ts";
import { LogRows } from "./log-rows.ts";
import { type RecoverDeps, recoverLogs } from "./recover.ts";

export interface OpenDetachedPorts extends DetachedPorts, Omit<RecoverDeps, "store" | "clock"> {}

/** Before any call is admitted. */
export async function openDetached(ports: OpenDetachedPorts): Promise<DetachedCalls> {
  const rows = new LogRows(ports.store);
  await recoverLogs(ports, rows, logCiphers(ports.masterKeys));
  const calls = new DetachedCalls(ports);
  calls.load();
  return calls;
}
