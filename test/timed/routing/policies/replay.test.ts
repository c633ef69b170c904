/**
 * A draft of 20 rules over 100,000 recorded requests of a model with eight endpoints: under three seconds from the question
 * to the report, on the embedded engine, and no turn of the event loop beyond 10 ms meanwhile. The figures are printed. Where
 * others keep the processors busy, the clock says nothing: it is then no more processor time than two give in three seconds.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { startWorker } from "../../../support/worker.ts";
import type { Round } from "./replay-rounds.ts";

const REQUESTS = 100_000;
/** The best counts: the first one compiles, and something else may have the machine during one. */
const ROUNDS = 3;
/** Processors that others keep busy; the engine, which is a process too, takes less than half of one. */
const BUSY = 0.8;

test("T54: 100,000 recorded requests in under 3 s, beside the event loop", async () => {
  const worker = startWorker(join(import.meta.dirname, "replay-rounds.ts"), [REQUESTS, ROUNDS]);
  expect(await worker.end()).toEqual([0, null]);
  const rounds = worker.lines().map((line) => JSON.parse(line) as Round);
  expect(rounds).toHaveLength(ROUNDS);
  for (const { tookMs, ownMs, others, turnMs, report } of rounds) {
    console.log(
      `replay of ${REQUESTS} requests: ${Math.round(tookMs)} ms, ${Math.round(ownMs)} ms of processors, others kept ${others.toFixed(1)} busy; longest turn of the event loop ${turnMs.toFixed(1)} ms`,
    );
    expect(report).toMatchObject({ requests: REQUESTS, replayed: REQUESTS, truncated: false });
    expect(report.by_rule).toHaveLength(21);
    expect(report.moved).toBeGreaterThan(REQUESTS / 4);
    expect(report.cost_micro.delta).not.toBe(0);
  }
  const isInTime = ({ tookMs, ownMs, others }: Round) => tookMs < 3000 || (others > BUSY && ownMs < 6000);
  expect(rounds.some(isInTime)).toBe(true);
  expect(Math.min(...rounds.map(({ turnMs }) => turnMs))).toBeLessThan(10);
});
