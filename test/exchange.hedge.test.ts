/** Two attempts at once, time that is shared out, keys that stand in for one another. */
import { describe, expect, test } from "vitest";
import { type Held, held } from "./exchange.held.ts";

const at = (upstreams: readonly Held[], n: number): Held => upstreams[n] as Held;

describe.each([true, false])("a hedge, stream %s", (stream) => {
  const hedged = (more: object = {}) => held({ stream, decision: { hedgeAfterMs: 500 }, ...more });

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

  test("T19: a client that leaves: both are cancelled and nobody else is asked", async () => {
    const { time, upstreams, asked, leave, kinds, inFlight } = hedged();
    time.pass(500);
    leave();
    expect(upstreams.map((u) => u.isCancelled)).toEqual([true, true]);
    time.pass(60_000);
    expect([asked(), kinds(), inFlight()]).toEqual([["one", "two"], ["cancelled"], 0]);
  });

  test("T21: of two that are silent when the client leaves, one is read to its end", async () => {
    const { time, upstreams, leave, kinds, drains } = hedged({ onDisconnect: "drain" });
    time.pass(500);
    leave();
    expect(upstreams.map((u) => u.isCancelled)).toEqual([false, true]);
    await at(upstreams, 0).answer();
    expect(kinds()).toEqual([stream ? "streamed" : "whole"]);
    expect(drains).toEqual({ begun: 1, ended: 1 });
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

test("T15: a stream that has begun is not replaced, however long it is silent then", async () => {
  const { time, upstreams, asked, tick, kinds } = held({ decision: { hedgeAfterMs: 500 } });
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
    const { time, asked, kinds, ended } = held({ decision: { timeoutMs: 9000 } });
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

  test("what an attempt did not use the next ones have", async () => {
    const { time, upstreams, asked } = held({ decision: { timeoutMs: 9000 } });
    time.pass(1000);
    await at(upstreams, 0).status(500);
    time.pass(3999);
    expect(asked()).toEqual(["one", "two"]);
    time.pass(1);
    expect(asked()).toEqual(["one", "two", "three"]);
  });

  test("does not cut a stream that has begun", async () => {
    const { time, upstreams, kinds } = held({ decision: { timeoutMs: 3000 } });
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
    const { upstreams, asked, kinds } = held({ keys: 4 });
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
    const { upstreams, asked } = held({ keys: 4 });
    await at(upstreams, 0).status(500);
    await at(upstreams, 1).cut();
    expect(asked()).toEqual(["one", "two", "three"]);
  });

  test("each try counts against max_attempts", async () => {
    const { upstreams, asked } = held({ keys: 4, decision: { maxAttempts: 2 } });
    await at(upstreams, 0).status(429);
    await at(upstreams, 1).status(429);
    expect(asked().slice(0, 2)).toEqual(["one", "one"]);
    expect(asked()).toHaveLength(2);
  });
});
