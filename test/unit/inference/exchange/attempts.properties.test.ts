/**
 * Whatever upstreams, clients and the clock do in whatever order: a call ends once, nothing of it stays taken, and nobody is
 * asked who must not be.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { rounds } from "../../../support/effort.ts";
import { type ControlledUpstream, runAttempts } from "./controlled-upstreams.ts";

const RUNS = rounds(3000);

/** Which of those that are still listened to. */
const upstream = fc.nat({ max: 1 });
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("pass"), ms: fc.constantFrom(1, 99, 400, 500, 3000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("begin", "answer", "report", "cut"), upstream }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("status"),
      upstream,
      status: fc.constantFrom(400, 401, 403, 404, 429, 500, 503),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("wrote", "unwritable"),
      id: fc.constantFrom("one", "two", "three"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("leave", "tick", "shutDown", "drainsFull") }) },
);

const given = fc.record({
  stream: fc.boolean(),
  keys: fc.integer({ min: 1, max: 3 }),
  onDisconnect: fc.constantFrom("cancel" as const, "drain" as const),
  inThread: fc.constantFrom([], ["two"], ["two", "three"], ["one", "two", "three"]),
  decision: fc.record({
    hedgeAfterMs: fc.constantFrom(undefined, 500, 500, 500),
    timeoutMs: fc.constantFrom(undefined, 3000, 9000),
    maxAttempts: fc.integer({ min: 1, max: 8 }),
  }),
});

type Given = typeof given extends fc.Arbitrary<infer G> ? G : never;
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const isLive = ({ isCancelled, isOver }: ControlledUpstream): boolean => !isCancelled && !isOver;

async function take(bench: ReturnType<typeof runAttempts>, taken: Step): Promise<void> {
  const at = "upstream" in taken ? bench.upstreams.filter(isLive)[taken.upstream] : undefined;
  switch (taken.kind) {
    case "pass":
      bench.time.pass("ms" in taken ? taken.ms : 0);
      return;
    case "begin":
    case "answer":
    case "report":
    case "cut":
      if (at !== undefined) await at[taken.kind]();
      return;
    case "status":
      if (at !== undefined && !at.hasHead) await at.status("status" in taken ? taken.status : 500);
      return;
    case "wrote":
    case "unwritable":
      if ("id" in taken)
        await bench.wrote(taken.id, taken.kind === "wrote" ? undefined : new Error("a fault"));
      return;
    case "leave":
      bench.leave();
      return;
    case "tick":
      bench.tick();
      return;
    case "shutDown":
      bench.shutDown();
      return;
    case "drainsFull":
      bench.drains.areFull = true;
  }
}

/** Looked at after every step of every run: an `expect` for each would take longer than the calls. */
function hold(isSo: boolean, otherwise: string): void {
  if (!isSo) expect.fail(otherwise);
}

function check(
  bench: ReturnType<typeof runAttempts>,
  { stream, decision: { maxAttempts } }: Given,
  before: number,
  wasClosed: boolean,
): void {
  const live = bench.upstreams.filter(isLive);
  hold(live.length <= 2, "more than two are asked at once");
  hold(bench.inFlight() === live.length, `${bench.inFlight()} in flight, ${live.length} asked`);
  hold(bench.upstreams.length <= maxAttempts, "more attempts than the call has");
  // Over, or left by its client: nobody is asked any more.
  hold(!wasClosed || bench.upstreams.length === before, "one was asked after the end");
  // A stream that has begun is the only one.
  hold(!stream || live.length === 1 || !live.some(({ hasBegun }) => hasBegun), "another beside a stream");
  // A key is not refused twice at one endpoint in one call.
  const asked = bench.upstreams.map(({ endpointId, keyId }) => `${endpointId} ${keyId}`);
  hold(new Set(asked).size === asked.length, `asked twice: ${asked}`);
}

/** Time goes on, and what is written in threads is written, until nothing can be under way any more. */
async function toTheEnd(bench: ReturnType<typeof runAttempts>): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    for (const id of ["one", "two", "three"]) await bench.wrote(id);
    bench.time.pass(1e6);
    bench.tick();
  }
}

test("a call ends once, nothing of it stays taken, and nobody is asked who must not be", async () => {
  await fc.assert(
    fc.asyncProperty(
      given,
      fc.array(step, { minLength: 3, maxLength: 15, size: "max" }),
      async (options, steps) => {
        const bench = runAttempts({ ...options, isFaultExpected: true });
        const { maxAttempts } = options.decision;
        let isClosed = false;
        const untold = new Set<string>();
        for (const taken of steps) {
          const before = bench.upstreams.length;
          if (taken.kind === "unwritable" && "id" in taken) untold.add(taken.id);
          await take(bench, taken);
          check(bench, options, before, isClosed);
          isClosed = bench.hasLeft() || bench.outcomes.length > 0;
        }
        const [first] = bench.outcomes;
        // Nobody gives up while somebody may still be asked; only a refusal of the request itself ends it.
        if (first?.kind === "failed" && !bench.hasLeft() && first.failure?.errorClass !== "client") {
          const asked = new Set([...bench.asked(), ...untold]);
          const isEnough = asked.size === 3 || bench.asked().length >= maxAttempts;
          expect(isEnough || options.decision.timeoutMs !== undefined).toBe(true);
        }
        await toTheEnd(bench);
        expect(bench.kinds()).toHaveLength(1);
        expect([bench.inFlight(), bench.time.waiting]).toEqual([0, 0]);
        expect(bench.drains.ended).toBe(bench.drains.begun);
        expect(bench.upstreams.filter(isLive)).toEqual([]);
        // A row for each that was asked, in the order of their starts.
        const { attempts, endpoint } = bench.call;
        expect(attempts.map((a) => `${a.attempt} ${a.endpointId}`)).toEqual(
          bench.asked().map((id, at) => `${at + 1} ${id}`),
        );
        const answered = attempts
          .filter(({ outcome }) => outcome === "ok")
          .map(({ endpointId }) => endpointId);
        const isAnswered = bench.kinds()[0] === "streamed" || bench.kinds()[0] === "whole";
        // Who answered is who is charged for.
        expect(answered).toEqual(isAnswered ? [endpoint?.id] : []);
      },
    ),
    { numRuns: RUNS },
  );
});
