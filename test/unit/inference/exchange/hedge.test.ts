/** Two attempts at once, time that is shared out, keys that stand in for one another. */
import { describe, expect, test } from "vitest";
import { giveData } from "../../../support/upstream/give-data.ts";
import { type ControlledUpstream, runAttempts } from "./controlled-upstreams.ts";

const at = (upstreams: readonly ControlledUpstream[], n: number): ControlledUpstream =>
  upstreams[n] as ControlledUpstream;

describe.each([true, false])("a hedge, stream %s", (stream) => {
  const hedged = (more: object = {}) => runAttempts({ stream, decision: { hedgeAfterMs: 500 }, ...more });

  test("nobody else is asked where the first answers in time", async () => {
    const { time, upstreams, asked, kinds, ended } = hedged();
    time.pass(499);
    await at(upstreams, 0).answer();
    time.pass(10_000);
    expect([asked(), kinds(), ended()]).toEqual([["one"], [stream ? "streamed" : "whole"], ["1 one ok"]]);
    expect(time.waiting).toBe(0);
  });

  test("the second is asked after the silence; the first to answer is the answer, the other is cancelled", async () => {
    const { time, upstreams, asked, kinds, ended, call, inFlight } = hedged();
    time.pass(500);
    expect(asked()).toEqual(["one", "two"]);
    time.pass(100);
    await at(upstreams, 1).answer();
    expect(at(upstreams, 0).isCancelled).toBe(true);
    expect(kinds()).toEqual([stream ? "streamed" : "whole"]);
    expect(ended()).toEqual(["1 one cancelled", "2 two ok"]);
    expect(call.endpoint?.id).toBe("two");
    expect(call.upstreamTtftMs).toBe(100);
    // Whoever lost may still speak: nobody listens.
    await at(upstreams, 0).answer();
    expect(kinds()).toHaveLength(1);
    expect(inFlight()).toBe(0);
    // Both waited at the same time: it counts once.
    expect(call.upstreamMs).toBe(600);
  });

  test("the first may still win", async () => {
    const { time, upstreams, ended, call } = hedged();
    time.pass(800);
    await at(upstreams, 0).answer();
    expect(at(upstreams, 1).isCancelled).toBe(true);
    expect(ended()).toEqual(["1 one ok", "2 two cancelled"]);
    expect(call.endpoint?.id).toBe("one");
  });

  test("one hedge a call: no third is asked while two are silent", async () => {
    const { time, asked } = hedged();
    time.pass(60_000);
    expect(asked()).toEqual(["one", "two"]);
  });

  test("an error of megabytes is not read to its end", async () => {
    const { upstreams, asked, ended } = hedged();
    at(upstreams, 0).handler.onHead(500, { "content-type": "application/json" });
    for (let kb = 0; kb < 65; kb++) giveData(at(upstreams, 0).handler, Buffer.alloc(1024, "x"));
    expect([at(upstreams, 0).isCancelled, asked()]).toEqual([true, ["one", "two"]]);
    expect(ended()).toEqual(["1 one http_error"]);
  });

  test("where one of the two fails the other goes on; where both do the third is asked", async () => {
    const { time, upstreams, asked, kinds, ended } = hedged();
    time.pass(500);
    await at(upstreams, 0).status(500);
    expect(asked()).toEqual(["one", "two"]);
    await at(upstreams, 1).status(500);
    expect(asked()).toEqual(["one", "two", "three"]);
    await at(upstreams, 2).answer();
    expect(kinds()).toEqual([stream ? "streamed" : "whole"]);
    expect(ended()).toEqual(["1 one http_error", "2 two http_error", "3 three ok"]);
  });

  test("a request that one of them refuses for what it is ends there: the other would refuse it too", async () => {
    const { time, upstreams, kinds, ended } = hedged();
    time.pass(500);
    await at(upstreams, 0).status(400);
    expect(at(upstreams, 1).isCancelled).toBe(true);
    expect([kinds(), ended()]).toEqual([["failed"], ["1 one http_error", "2 two cancelled"]]);
  });

  test("but where the second one refuses it, the first goes on: without a hedge it might answer", async () => {
    const { time, upstreams, asked, kinds, ended } = hedged();
    time.pass(500);
    await at(upstreams, 1).status(400);
    expect([kinds(), at(upstreams, 0).isCancelled]).toEqual([[], false]);
    await at(upstreams, 0).answer();
    expect([kinds(), asked()]).toEqual([[stream ? "streamed" : "whole"], ["one", "two"]]);
    expect(ended()).toEqual(["1 one ok", "2 two http_error"]);
  });

  test("and where the first then fails, nobody else is asked, and the refusal is told", async () => {
    const { time, upstreams, asked, outcomes } = hedged();
    time.pass(500);
    await at(upstreams, 1).status(400);
    await at(upstreams, 0).status(500);
    expect(asked()).toEqual(["one", "two"]);
    expect(outcomes).toMatchObject([{ kind: "failed", failure: { errorClass: "client", httpStatus: 400 } }]);
  });

  test("where the first fails the call is the second's: its endpoint and key decide what is charged", async () => {
    const { time, upstreams, leave, call } = hedged();
    time.pass(500);
    await at(upstreams, 0).status(500);
    expect([call.endpoint?.id, call.lane?.endpoint.id]).toEqual(["two", "two"]);
    if (stream) await at(upstreams, 1).report();
    leave();
    expect([call.endpoint?.id, call.lane?.endpoint.id]).toEqual(["two", "two"]);
  });

  test("T19: a client that leaves: both are cancelled and nobody else is asked", async () => {
    const { time, upstreams, asked, leave, kinds, inFlight } = hedged();
    time.pass(500);
    leave();
    expect(upstreams.map((u) => u.isCancelled)).toEqual([true, true]);
    time.pass(60_000);
    expect([asked(), kinds(), inFlight()]).toEqual([["one", "two"], ["cancelled"], 0]);
  });

  test("T21: of two that are silent when the client leaves, one is read to its end", async () => {
    const { time, upstreams, leave, kinds, drains, health, endpoints } = hedged({ onDisconnect: "drain" });
    time.pass(500);
    leave();
    expect(upstreams.map((u) => u.isCancelled)).toEqual([false, true]);
    // Nobody was quicker than the other, so its silence says nothing.
    const [, two] = endpoints;
    expect(two && health.of(two)).toMatchObject({ ttftMs: undefined, wholeMs: undefined });
    await at(upstreams, 0).answer();
    expect(kinds()).toEqual([stream ? "streamed" : "whole"]);
    expect(drains).toMatchObject({ begun: 1, ended: 1 });
  });

  test("what the loser's silence tells: it is slower than it seemed", async () => {
    const { time, upstreams, health, endpoints } = hedged();
    time.pass(500);
    await at(upstreams, 1).answer();
    const [one] = endpoints;
    const waited = stream ? { ttftMs: 500 } : { wholeMs: 500 };
    expect(one && health.of(one)).toMatchObject({ ...waited, errorRate: 0, outForMs: 0 });
  });
});

test("white space says no more than silence does", async () => {
  const { time, upstreams, asked, ended } = runAttempts({
    stream: false,
    decision: { hedgeAfterMs: 500, timeoutMs: 2000 },
  });
  at(upstreams, 0).handler.onHead(200, { "content-type": "application/json" });
  giveData(at(upstreams, 0).handler, "\n\n");
  time.pass(500);
  expect(asked()).toEqual(["one", "two"]);
  time.pass(200);
  expect(ended()).toEqual(["1 one timeout"]);
});

test("a whole answer that has begun to come is waited for", async () => {
  const { time, upstreams, asked, kinds } = runAttempts({ stream: false, decision: { hedgeAfterMs: 500 } });
  time.pass(400);
  await at(upstreams, 0).begin();
  time.pass(9000);
  expect(asked()).toEqual(["one"]);
  await at(upstreams, 0).answer();
  expect([kinds(), time.waiting]).toEqual([["whole"], 0]);
});

describe("a hedge whose body a thread is writing", () => {
  const writing = (more: object = {}) =>
    runAttempts({ inThread: ["two", "three"], decision: { hedgeAfterMs: 500 }, ...more });

  test("is asked once it is written; where the first fails meanwhile, it is waited for", async () => {
    const { time, upstreams, asked, wrote, kinds } = writing();
    time.pass(500);
    await at(upstreams, 0).status(500);
    expect([asked(), kinds()]).toEqual([["one"], []]);
    await wrote("two");
    await at(upstreams, 1).answer();
    expect([asked(), kinds()]).toEqual([["one", "two"], ["streamed"]]);
  });

  test("is not asked where the first has begun to answer", async () => {
    const { time, upstreams, asked, wrote, inFlight } = writing();
    time.pass(500);
    await at(upstreams, 0).begin();
    await wrote("two");
    expect([asked(), inFlight()]).toEqual([["one"], 1]);
  });

  test("is not asked where a whole answer has begun to come; if that breaks off, its turn is there again", async () => {
    const { time, upstreams, asked, wrote, kinds } = writing({ stream: false });
    time.pass(500);
    await at(upstreams, 0).begin();
    await wrote("two");
    expect(asked()).toEqual(["one"]);
    await at(upstreams, 0).cut();
    await wrote("two");
    await at(upstreams, 1).answer();
    expect([asked(), kinds()]).toEqual([["one", "two"], ["whole"]]);
  });

  test.each([undefined, new Error("it cannot be told")])(
    "T19: is not asked for a client that left, though the first is read to its end (fault: %s)",
    async (fault) => {
      const { time, upstreams, asked, wrote, leave, kinds, drains, inFlight } = writing({
        onDisconnect: "drain",
        isFaultExpected: true,
      });
      time.pass(500);
      leave();
      await wrote("two", fault);
      await wrote("three");
      expect(asked()).toEqual(["one"]);
      await at(upstreams, 0).answer();
      expect([kinds(), drains.begun, drains.ended, inFlight()]).toEqual([["streamed"], 1, 1, 0]);
    },
  );

  test("T43: is not asked once the time of the call is up", async () => {
    const { time, asked, wrote, tick, outcomes, inFlight } = writing();
    time.pass(500);
    time.pass(1e6);
    tick();
    await wrote("two");
    expect([asked(), inFlight()]).toEqual([["one"], 0]);
    expect(outcomes).toMatchObject([{ kind: "failed", failure: { errorClass: "timeout" } }]);
  });
});

test("T21: of a silent one and one whose whole answer is coming, that one is read to its end", async () => {
  const { time, upstreams, leave, kinds, call } = runAttempts({
    stream: false,
    onDisconnect: "drain",
    decision: { hedgeAfterMs: 500 },
  });
  time.pass(500);
  await at(upstreams, 1).begin();
  leave();
  expect(upstreams.map((u) => u.isCancelled)).toEqual([true, false]);
  expect([call.endpoint?.id, call.lane?.endpoint.id]).toEqual(["two", "two"]);
  await at(upstreams, 1).answer();
  expect(kinds()).toEqual(["whole"]);
});

test("T15: a stream that has begun is not replaced, however long it is silent then", async () => {
  const { time, upstreams, asked, tick, kinds } = runAttempts({ decision: { hedgeAfterMs: 500 } });
  time.pass(400);
  await at(upstreams, 0).begin();
  time.pass(9000);
  tick();
  expect(asked()).toEqual(["one"]);
  time.pass(1001);
  tick();
  expect([asked(), kinds()]).toEqual([["one"], ["broken"]]);
});

describe("timeout_ms", () => {
  test("is shared out among the attempts that are left, so that each has its turn", async () => {
    const { time, asked, kinds, ended } = runAttempts({ decision: { timeoutMs: 9000 } });
    time.pass(2999);
    expect(asked()).toEqual(["one"]);
    time.pass(1);
    expect(asked()).toEqual(["one", "two"]);
    time.pass(3000);
    expect(asked()).toEqual(["one", "two", "three"]);
    time.pass(2999);
    expect(kinds()).toEqual([]);
    time.pass(1);
    expect(kinds()).toEqual(["failed"]);
    expect(ended()).toEqual(["1 one timeout", "2 two timeout", "3 three timeout"]);
  });

  test("C14: none is left for an endpoint that the hold does not cover", () => {
    const { time, asked, kinds, ended } = runAttempts({
      decision: { timeoutMs: 9000 },
      fittedTo: ["one", "three"],
    });
    time.pass(4499);
    expect(asked()).toEqual(["one"]);
    time.pass(1);
    expect(asked()).toEqual(["one", "three"]);
    time.pass(4499);
    expect(kinds()).toEqual([]);
    time.pass(1);
    expect([kinds(), ended()]).toEqual([["failed"], ["1 one timeout", "2 three timeout"]]);
  });

  test("C14: no hedge waits for an endpoint that the hold does not cover", () => {
    const { time, asked } = runAttempts({ decision: { hedgeAfterMs: 500 }, fittedTo: ["one"] });
    expect(time.waiting).toBe(0);
    time.pass(1000);
    expect(asked()).toEqual(["one"]);
  });

  test("what an attempt did not use the next ones have", async () => {
    const { time, upstreams, asked } = runAttempts({ decision: { timeoutMs: 9000 } });
    time.pass(1000);
    await at(upstreams, 0).status(500);
    time.pass(3999);
    expect(asked()).toEqual(["one", "two"]);
    time.pass(1);
    expect(asked()).toEqual(["one", "two", "three"]);
  });

  test("is shared out beside a hedge, too: those behind the two have their turn", async () => {
    const { time, asked, kinds } = runAttempts({ decision: { timeoutMs: 9000, hedgeAfterMs: 1000 } });
    time.pass(1000);
    expect(asked()).toEqual(["one", "two"]);
    // The second has half of the 8 s that were left.
    time.pass(3999);
    expect(asked()).toEqual(["one", "two"]);
    time.pass(1);
    expect(asked()).toEqual(["one", "two", "three"]);
    time.pass(4000);
    expect([kinds(), time.waiting]).toEqual([["failed"], 0]);
  });

  test("is not kept for endpoints that max_attempts leaves out", async () => {
    const { time, upstreams, asked, kinds } = runAttempts({
      keys: 2,
      decision: { timeoutMs: 9000, maxAttempts: 2 },
    });
    await at(upstreams, 0).status(429);
    time.pass(8999);
    expect([asked(), kinds()]).toEqual([["one", "one"], []]);
    time.pass(1);
    expect(kinds()).toEqual(["failed"]);
  });

  test("begins nothing once it is over, and says that it was the time", async () => {
    const { time, asked, wrote, outcomes } = runAttempts({
      inThread: ["one", "two", "three"],
      decision: { timeoutMs: 3000 },
    });
    time.pass(3000);
    await wrote("one");
    expect(asked()).toEqual([]);
    expect(outcomes).toMatchObject([{ kind: "failed", failure: { errorClass: "timeout" } }]);
  });

  test.each([true, false])("also ends an error that does not end (stream: %s)", async (stream) => {
    const { time, upstreams, asked, ended, call } = runAttempts({ stream, decision: { timeoutMs: 9000 } });
    at(upstreams, 0).handler.onHead(500, { "content-type": "application/json" });
    giveData(at(upstreams, 0).handler, '{"error":');
    time.pass(3000);
    expect([asked(), ended()]).toEqual([["one", "two"], ["1 one timeout"]]);
    // What came was no content.
    expect(call.attempts[0]?.ttftMs).toBe(0);
  });

  test("does not cut a stream that has begun", async () => {
    const { time, upstreams, kinds } = runAttempts({ decision: { timeoutMs: 3000 } });
    time.pass(900);
    await at(upstreams, 0).begin();
    time.pass(9000);
    expect(kinds()).toEqual([]);
    await at(upstreams, 0).answer();
    expect([kinds(), time.waiting]).toEqual([["streamed"], 0]);
  });
});

describe("a pool of keys", () => {
  test("a key that is refused is replaced by another at the same endpoint, three at most", async () => {
    const { upstreams, asked, kinds } = runAttempts({ keys: 4 });
    for (const n of [0, 1, 2]) {
      expect(asked()).toEqual(Array.from({ length: n + 1 }, () => "one"));
      await at(upstreams, n).status(n === 1 ? 401 : 429);
    }
    expect(new Set(upstreams.slice(0, 3).map(({ keyId }) => keyId)).size).toBe(3);
    expect(asked()).toEqual(["one", "one", "one", "two"]);
    await at(upstreams, 3).answer();
    expect(kinds()).toEqual(["streamed"]);
  });

  test("T43: what may have been processed is not repeated at the same endpoint", async () => {
    const { upstreams, asked } = runAttempts({ keys: 4 });
    await at(upstreams, 0).status(500);
    await at(upstreams, 1).cut();
    expect(asked()).toEqual(["one", "two", "three"]);
  });

  test("a key that was refused before a hedge is not tried once more after it", async () => {
    const { time, upstreams, asked } = runAttempts({ keys: 2, decision: { hedgeAfterMs: 500 } });
    await at(upstreams, 0).status(403);
    time.pass(500);
    expect(asked()).toEqual(["one", "one", "two"]);
    await at(upstreams, 2).status(500);
    await at(upstreams, 1).status(403);
    expect(asked()).toEqual(["one", "one", "two", "three"]);
  });

  test("each try counts against max_attempts", async () => {
    const { upstreams, asked } = runAttempts({ keys: 4, decision: { maxAttempts: 2 } });
    await at(upstreams, 0).status(429);
    await at(upstreams, 1).status(429);
    expect(asked().slice(0, 2)).toEqual(["one", "one"]);
    expect(asked()).toHaveLength(2);
  });
});
