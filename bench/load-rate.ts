/** Sends calls at a fixed rate, and checks every answer's content. */
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { isIntact } from "./fidelity.ts";
import { type LoadResult, percentiles, type RateJob } from "./load-job.ts";

/** Runs the job to its last answer, or to its deadline. Failed calls are counted, never thrown. */
export async function runRate(job: RateJob): Promise<LoadResult> {
  const { origin, pathname } = new URL(job.url);
  const pool = new Pool(origin, { connections: job.connections, pipelining: 1 });
  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    void pool.destroy();
  }, job.timeoutMs);
  const total = Math.max(1, Math.round(job.callsPerSecond * job.seconds));
  const gapMs = 1_000 / job.callsPerSecond;
  const latencies: number[] = [];
  let intact = 0;
  let fault = "";
  let lastAnswer = 0;

  const call = async (dueMs: number): Promise<void> => {
    try {
      const { body } = await pool.request({
        path: pathname,
        method: "POST",
        headers: job.headers,
        body: job.body,
      });
      const text = await body.text();
      lastAnswer = performance.now();
      latencies.push(lastAnswer - dueMs);
      if (isIntact(text, job.expected, job.format)) intact += 1;
      else fault ||= `unexpected answer: ${text.slice(0, 300)}`;
    } catch (error) {
      fault ||= late ? `not finished after ${job.timeoutMs} ms` : String(error);
    }
  };

  const started = performance.now();
  const calls: Promise<void>[] = [];
  while (calls.length < total && !late) {
    const dueMs = started + calls.length * gapMs;
    const waitMs = dueMs - performance.now();
    // A timer waits a millisecond at the least: calls that became due meanwhile are all sent when it fires.
    if (waitMs > 0) await sleep(Math.max(1, waitMs));
    else calls.push(call(dueMs));
  }
  await Promise.all(calls);
  clearTimeout(deadline);
  await pool.destroy();
  return {
    calls: latencies.length,
    intact,
    failed: total - latencies.length,
    seconds: (lastAnswer - started) / 1_000,
    latencyMs: percentiles(latencies),
    firstMs: null,
    fault,
  };
}
