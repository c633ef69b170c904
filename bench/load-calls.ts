/** Drives JSON and burst calls with autocannon, and checks every answer's content. */
import { randomUUID } from "node:crypto";
import autocannon from "autocannon";
import { isIntact } from "./fidelity.ts";
import { type CallsJob, type LoadResult, percentiles } from "./load-job.ts";

/** Runs the job within its amount or seconds, and its deadline. Failed calls are counted, never thrown. */
export function runCalls(job: CallsJob): Promise<LoadResult> {
  const latencies: number[] = [];
  let intact = 0;
  let failed = 0;
  let fault = "";
  const started = performance.now();
  let lastAnswer = started;

  return new Promise((resolve, reject) => {
    const run = autocannon(
      {
        url: job.url,
        method: "POST",
        headers: job.headers,
        body: job.body,
        connections: job.amount > 0 ? Math.min(job.connections, job.amount) : job.connections,
        ...(job.amount > 0 ? { amount: job.amount } : {}),
        ...(job.hasKeys === true && { requests: [{ setupRequest: withKey }] }),
        duration: job.seconds,
        timeout: Math.ceil(job.timeoutMs / 1000),
        sampleInt: 50,
        verifyBody: (body) => {
          const good = isIntact(body, job.expected, job.format);
          if (good) intact += 1;
          else if (fault === "") fault = `unexpected answer: ${body.slice(0, 300)}`;
          return good;
        },
      },
      (error) => {
        clearTimeout(deadline);
        if (error !== null) return reject(error);
        resolve({
          calls: latencies.length,
          intact,
          failed: failed + Math.max(0, job.amount - latencies.length - failed),
          seconds: (lastAnswer - started) / 1000,
          latencyMs: percentiles(latencies),
          firstMs: null,
          fault,
        });
      },
    );
    const deadline = setTimeout(() => {
      fault ||= `not finished after ${job.timeoutMs} ms`;
      run.stop();
    }, job.timeoutMs);
    run.on("response", (_client, _status, _bytes, durationMs) => {
      latencies.push(durationMs);
      lastAnswer = performance.now();
    });
    run.on("reqError", (error) => {
      failed += 1;
      fault ||= error.message;
    });
  });
}

const withKey: autocannon.SetupRequest = (request) => ({
  ...request,
  headers: { ...request.headers, "idempotency-key": randomUUID() },
});
