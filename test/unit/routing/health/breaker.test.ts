/** The breaker of a lane, over random interleavings of calls, first contents, ends and refusals: never shut for longer than a rest and a probe. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  Breaker,
  LAST_RESORT_OPEN_MS,
  MOST_PROBES,
  type Probe,
  SILENT_PROBE_MS,
  SLOW_START_MS,
} from "../../../../src/routing/health/breaker.ts";

interface Under {
  /** Undefined: it came through an open breaker. */
  readonly probe: Probe | undefined;
  readonly sinceMs: number;
  isTaken: boolean;
  /** It came before the rest that the breaker took last. */
  isOld: boolean;
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("call" as const), count: fc.integer({ min: 1, max: 40 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("content" as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const), which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("refusal" as const),
      which: fc.nat(),
      forMs: fc.constantFrom(1000, 2000, 8000, 60_000),
      isAsked: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("time" as const),
      ms: fc.constantFrom(1, 30, 400, 999, 3000, 9000),
    }),
  },
);

test("O18: never more find out at once than the slow start allows, and nobody waits longer than a rest and a probe", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.boolean(), (steps, isLastResort) => {
      const breaker = new Breaker();
      let nowMs = 1_000_000;
      let running: Under[] = [];
      /** What may find out at once, by the rule: 1, doubled by each first content and each silence of three seconds. */
      let room = Number.POSITIVE_INFINITY;
      let restUntilMs = 0;
      let openAtMs = Number.POSITIVE_INFINITY;
      const doubled = () => {
        room = room * 2 > MOST_PROBES ? Number.POSITIVE_INFINITY : room * 2;
      };
      const finding = () => running.filter((c) => !c.isOld && !c.isTaken && c.probe !== undefined);
      /** Silences that were counted already. */
      const silent = new Set<Under>();
      const silences = () => {
        for (const one of finding()) {
          if (silent.has(one) || nowMs - one.sinceMs < SILENT_PROBE_MS) continue;
          silent.add(one);
          if (Number.isFinite(room)) doubled();
        }
        if (nowMs >= openAtMs) room = Number.POSITIVE_INFINITY;
      };
      const pick = (which: number) => running[which % running.length];
      for (const s of steps) {
        silences();
        if (s.kind === "time") nowMs += s.ms;
        if (s.kind === "call") {
          for (let i = 0; i < s.count; i++) {
            const waitMs = breaker.waitMs(nowMs, isLastResort);
            const undecided = finding().filter((c) => !silent.has(c)).length;
            if (waitMs === 0) {
              expect(nowMs).toBeGreaterThanOrEqual(restUntilMs);
              expect(undecided).toBeLessThan(room);
              running.push({ probe: breaker.enter(nowMs), sinceMs: nowMs, isTaken: false, isOld: false });
            } else {
              // Shut for a reason: it rests, or as many as may are finding out, none of them for longer than a probe.
              const isOpen = nowMs < restUntilMs;
              expect(isOpen || undecided >= room).toBe(true);
              expect(waitMs).toBeLessThanOrEqual(isOpen ? restUntilMs - nowMs : SILENT_PROBE_MS);
            }
          }
        }
        const call = "which" in s && running.length > 0 ? pick(s.which) : undefined;
        if (call === undefined || !("which" in s)) continue;
        if (s.kind === "content" && call.probe !== undefined && !call.isTaken) {
          breaker.accepted(call.probe, nowMs);
          if (!call.isOld) {
            if (!silent.has(call) && Number.isFinite(room)) doubled();
            openAtMs = Math.min(openAtMs, nowMs + SLOW_START_MS);
            restUntilMs = Math.min(restUntilMs, nowMs);
          }
          call.isTaken = true;
        }
        if (s.kind === "end") {
          if (call.probe !== undefined) breaker.released(call.probe);
          running = running.filter((c) => c !== call);
        }
        if (s.kind === "refusal" && "forMs" in s) {
          const askedMs = s.isAsked ? s.forMs : 0;
          const begins = breaker.refused({ forMs: s.forMs, askedMs }, nowMs, call.probe);
          running = running.filter((c) => c !== call);
          const ms = isLastResort && !s.isAsked ? Math.min(s.forMs, LAST_RESORT_OPEN_MS) : s.forMs;
          if (begins) {
            restUntilMs = nowMs + ms;
            room = 1;
            openAtMs = Number.POSITIVE_INFINITY;
            silent.clear();
            for (const other of running) other.isOld = true;
          } else if (s.isAsked) {
            restUntilMs = Math.max(restUntilMs, nowMs + s.forMs);
          }
        }
      }
      // Whatever happened: an hour later a call may enter.
      expect(breaker.waitMs(nowMs + 3_600_000)).toBe(0);
    }),
    { numRuns: 500 },
  );
});

test("O18: behind calls that never say anything the breaker opens within seconds", () => {
  const breaker = new Breaker();
  breaker.refused({ forMs: 1000, askedMs: 0 }, 0);
  let entered = 0;
  let nowMs = 1000;
  for (; nowMs < 20_000 && entered < 200; nowMs += 100) {
    while (entered < 200 && breaker.waitMs(nowMs) === 0) {
      breaker.enter(nowMs);
      entered++;
    }
  }
  expect(entered).toBe(200);
  expect(nowMs).toBeLessThan(1000 + 3 * SILENT_PROBE_MS + 200);
});
