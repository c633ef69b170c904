/** A process beside the one that serves calls goes behind it where the processor is short. */
import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/**
 * Lowers the priority of all threads of this process; those that begin later inherit it. Linux has one for each thread, and V8's own
 * have begun before any code runs. Never raises one: a gateway that is nicer itself leaves no right to it. Where the system refuses, all
 * stays as it is.
 * @param niceness 1 to 19; at 5 a busy process gets a quarter of a processor for which the gateway competes, at 10 a tenth
 */
export function yieldToGateway(niceness: number): void {
  try {
    const threads = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number) : [0];
    for (const thread of threads) setPriority(thread, Math.max(niceness, getPriority(thread)));
  } catch {
    // It only shares the processor evenly then.
  }
}
