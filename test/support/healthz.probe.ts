/**
 * A process of its own that asks a gateway for `/healthz` without pause, over one connection: how long each answer took.
 * Argument: the gateway's address. Each line on standard input has the times since the last one printed, in milliseconds, as soon as
 * there are as many as it says.
 */
import { Agent, get } from "node:http";
import { createInterface } from "node:readline";

const url = `${process.argv[2]}/healthz`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const PAUSE_MS = 5;
let times: number[] = [];
let failed = 0;
/** How many times are wanted before they are printed; undefined: nobody asks. */
let least: number | undefined;

function ask(): void {
  const startMs = performance.now();
  const again = () => {
    times.push(performance.now() - startMs);
    tell();
    setTimeout(ask, PAUSE_MS);
  };
  get(url, { agent }, (response) => {
    if (response.statusCode !== 200) failed++;
    response.resume();
    response.on("end", again);
  }).on("error", () => {
    failed++;
    again();
  });
}

function tell(): void {
  if (least === undefined || times.length < least) return;
  least = undefined;
  const sorted = times.sort((a, b) => a - b);
  times = [];
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  process.stdout.write(
    `${JSON.stringify({ count: sorted.length, failed, medianMs: at(0.5), p99Ms: at(0.99), worstMs: at(1) })}\n`,
  );
}

const lines = createInterface({ input: process.stdin });
lines.on("close", () => process.exit());
lines.on("line", (line) => {
  least = Number(line);
  tell();
});
ask();
