/** The other side of `worker.ts`: a process that may be killed at any instant says in lines what it does. */
import { writeSync } from "node:fs";

/**
 * The line is on its way before the process does anything else: `process.stdout` would keep it in memory while the reader is late, and
 * lose it with a kill. The process must not use `process.stdout` besides, nor `console`: they have a write return before it is done.
 */
export const say = (line: string): void => void writeSync(1, `${line}\n`);
