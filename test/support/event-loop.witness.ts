/**
 * Loaded into a gateway's process (`--import`): how long one turn of its event loop kept the processor at the most. Time on the
 * clock would count what other processes take of a busy machine. SIGUSR2 has it printed, in milliseconds, and begins anew; with
 * `--expose-gc` what is young is collected in between, so that a turn does not pay for what was made before it was measured.
 */
import { isMainThread } from "node:worker_threads";

const LOOK_EVERY_MS = 4;

if (isMainThread) {
  let longestUs = 0;
  const usage = () => {
    // Linux adds the running slice to a thread's time at each tick, every 4 ms, and when the whole process is asked for.
    process.cpuUsage();
    return process.threadCpuUsage();
  };
  let last = usage();
  const look = () => {
    const now = usage();
    longestUs = Math.max(longestUs, now.user + now.system - last.user - last.system);
    last = now;
  };
  setInterval(look, LOOK_EVERY_MS).unref();
  process.on("SIGUSR2", () => {
    look();
    process.stdout.write(`longest turn: ${(longestUs / 1000).toFixed(1)} ms\n`);
    globalThis.gc?.({ type: "minor" });
    last = usage();
    longestUs = 0;
  });
}
