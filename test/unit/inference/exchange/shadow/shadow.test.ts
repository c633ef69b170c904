/** Shadow calls, one by one: when a copy is sent, what is recorded of it, what it costs, and what it may not do. */
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { Endpoint } from "../../../../../src/base/endpoint.ts";
import type { ReservedCall } from "../../../../../src/inference/exchange/call.ts";
import { MAX_ANSWER_BYTES } from "../../../../../src/inference/exchange/shadow/shadow-copy.ts";
import { MAX_RUN_MS } from "../../../../../src/inference/exchange/shadow/shadow-run.ts";
import { giveData } from "../../../../support/upstream/give-data.ts";
import {
  ANSWER_MICRO_USD,
  answerStream,
  answerWhole,
  bench,
  ENDED,
  PRIMARY,
  type Sent,
  SHADOW,
  turn,
} from "../shadow.fixtures.ts";

const b = bench();
const { clock, credits, faults, rows, sent } = b;
beforeEach(() => {
  for (const list of [sent, rows, faults]) list.length = 0;
});
afterAll(() => b.dispose());

/** The same call, planned with another shadow. */
const withShadow = (call: ReservedCall, shadow: Endpoint | undefined): ReservedCall =>
  Object.assign(call, { plan: { ...call.plan, shadow } });
const last = (): Sent => sent.at(-1) as Sent;
const committed = () => b.deps.store.act(() => {});
const NOTHING_HELD = { holds: 0, heldMicroUsd: 0 };

describe("a copy", () => {
  test("is sent in a turn of its own, to the shadow alone, under an id of its own", async () => {
    const shadows = b.open();
    const reserved = b.begun();
    const run = shadows.start(reserved);
    expect(sent).toEqual([]);
    await turn();
    expect(sent.map(({ request }) => request.endpoint.id)).toEqual([SHADOW.id]);
    expect(Buffer.concat(last().request.parts).toString()).toContain('"Hello"');
    answerWhole(last());
    run?.primaryEnded(ENDED);
    expect(rows[0]).toMatchObject({ requestId: reserved.requestId });
    expect(rows[0]?.shadowRequestId).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(rows[0]?.shadowRequestId).not.toBe(reserved.requestId);
  });

  test("takes the client's headers along where it speaks the client's format, and only there", async () => {
    const shadows = b.open();
    shadows.start(b.begun());
    await turn();
    expect(last().request.headers).toEqual({ "x-of-the-client": "1" });
    const other = b.begun();
    shadows.start(withShadow(other, { ...SHADOW, dialects: ["messages"] }));
    await turn();
    expect(last().request.headers).toEqual({});
    shadows.stop();
  });

  test("leaves the call as it was", async () => {
    const shadows = b.open();
    const reserved = b.begun();
    const before = { ...reserved };
    const run = shadows.start(reserved);
    await turn();
    answerWhole(last(), "{}", 500);
    run?.primaryEnded(ENDED);
    expect({ ...reserved }).toEqual(before);
  });

  test("of a burst, one is sent a turn", async () => {
    const shadows = b.open();
    for (let i = 0; i < 3; i++) shadows.start(b.begun());
    await turn();
    expect(sent).toHaveLength(1);
    await turn();
    await turn();
    expect(sent).toHaveLength(3);
    shadows.stop();
  });
});

describe("what is recorded", () => {
  const compared = {
    orgId: "org_none",
    policy: "house",
    policyVersion: 3,
    bill: "platform",
    charged: false,
    primaryEndpoint: PRIMARY.id,
    shadowEndpoint: SHADOW.id,
    primaryStatus: "ok",
    shadowStatus: "ok",
    shadowErrorClass: "",
    primaryCostMicroUsd: 3,
    shadowCostMicroUsd: ANSWER_MICRO_USD,
    primaryTtftMs: 40,
    shadowTtftMs: 70,
    primaryOutputTokens: 4,
    shadowOutputTokens: 5,
    primaryStopReason: "stop",
  };

  test.each(["the call", "the copy"])("both sides, where %s ends last", async (lastOne) => {
    const run = b.open().start(b.begun());
    await turn();
    clock.advance(70);
    if (lastOne === "the copy") run?.primaryEnded(ENDED);
    expect(rows).toEqual([]);
    answerWhole(last());
    if (lastOne === "the call") run?.primaryEnded(ENDED);
    expect(rows).toEqual([expect.objectContaining({ ...compared, shadowStopReason: "length" })]);
    run?.primaryEnded(undefined);
    expect(rows).toHaveLength(1);
  });

  test("a stream, by its first content", async () => {
    const run = b.open().start(b.begun({ body: { stream: true } }));
    await turn();
    clock.advance(70);
    await answerStream(last(), 0, 1);
    clock.advance(1000);
    await answerStream(last(), 1);
    run?.primaryEnded(ENDED);
    expect(rows).toEqual([expect.objectContaining({ ...compared, shadowStopReason: "stop" })]);
  });

  test.each([
    [429, "capacity"],
    [500, "server"],
    [400, "client"],
  ])("an answer of %i as an error of class %s", async (status, shadowErrorClass) => {
    const shadows = b.open();
    const run = shadows.start(b.begun());
    await turn();
    answerWhole(last(), '{"error":{"message":"no"}}', status);
    run?.primaryEnded(ENDED);
    expect(rows).toEqual([
      expect.objectContaining({ shadowStatus: "error", shadowErrorClass, shadowCostMicroUsd: 0 }),
    ]);
    // It was this endpoint that said so: whoever plans next should know.
    if (status === 429) expect(shadows.health.of(SHADOW)?.outForMs).toBeGreaterThan(0);
    if (status === 500) expect(shadows.health.of(SHADOW)?.errorRate).toBe(1);
  });

  test("a request that cannot be told to the shadow, as its client's error", async () => {
    const reserved = b.begun({ body: { svc: { compat: { strict: true } }, logit_bias: { 1: 1 } } });
    const foreign = { ...SHADOW, dialects: ["messages"] as const };
    const run = b.open().start(withShadow(reserved, foreign));
    await turn();
    run?.primaryEnded(ENDED);
    expect(sent).toEqual([]);
    expect(rows).toEqual([expect.objectContaining({ shadowStatus: "error", shadowErrorClass: "client" })]);
  });

  test("nothing, where the shadow saturated since the plan was made", async () => {
    const shadows = b.open();
    const first = shadows.start(b.begun());
    await turn();
    answerWhole(last(), "{}", 429);
    first?.primaryEnded(ENDED);
    const second = shadows.start(b.begun());
    await turn();
    second?.primaryEnded(ENDED);
    expect([sent.length, rows.length, shadows.counts()]).toEqual([1, 1, { live: 0, sent: 1, dropped: 1 }]);
  });
});

describe("no copy waits, or is waited for", () => {
  test("a shadow that says nothing is an error once its time is over", async () => {
    const shadows = b.open();
    const run = shadows.start(b.begun());
    await turn();
    run?.primaryEnded(ENDED);
    shadows.tick(clock.monotonic() + MAX_RUN_MS - 1);
    expect(rows).toEqual([]);
    shadows.tick(clock.monotonic() + MAX_RUN_MS);
    expect(last().cancelled).toBe(true);
    expect(rows).toEqual([expect.objectContaining({ shadowStatus: "error", shadowErrorClass: "timeout" })]);
    expect(shadows.counts()).toEqual({ live: 0, sent: 1, dropped: 0 });
  });

  test("one that is still talking is not compared, and its endpoint not blamed", async () => {
    const shadows = b.open();
    const run = shadows.start(b.begun({ body: { stream: true } }));
    await turn();
    await answerStream(last(), 0, 1);
    run?.primaryEnded(ENDED);
    for (let i = 0; i < 12; i++) {
      clock.advance(MAX_RUN_MS / 12);
      giveData(last().handler, ": still here\n\n");
      await Promise.resolve();
    }
    shadows.tick(clock.monotonic());
    expect(rows).toEqual([expect.objectContaining({ shadowStatus: "cancelled", shadowErrorClass: "" })]);
    expect(shadows.health.of(SHADOW)?.errorRate).toBe(0);
  });

  test("a flood is cut off", async () => {
    const run = b.open().start(b.begun());
    await turn();
    last().handler.onHead(200, { "content-type": "application/json" });
    const piece = Buffer.alloc(64 * 1024, "x");
    let bytes = 0;
    while (!last().cancelled && bytes < 10_000_000) {
      giveData(last().handler, piece);
      bytes += piece.length;
    }
    expect(bytes).toBeLessThanOrEqual(MAX_ANSWER_BYTES + piece.length);
    run?.primaryEnded(ENDED);
    expect(rows).toEqual([expect.objectContaining({ shadowStatus: "cancelled" })]);
  });

  test("the client leaves: the copy is cancelled, also one that was not sent yet", async () => {
    const shadows = b.open();
    const run = shadows.start(b.begun());
    await turn();
    run?.primaryEnded({ ...ENDED, status: "cancelled" });
    expect(last().cancelled).toBe(true);
    expect(rows).toEqual([
      expect.objectContaining({ primaryStatus: "cancelled", shadowStatus: "cancelled" }),
    ]);
    shadows.start(b.begun())?.primaryEnded({ ...ENDED, status: "cancelled" });
    await turn();
    expect([sent.length, shadows.counts().live]).toEqual([1, 0]);
  });

  test("no more than so many at once; the others are dropped and counted", async () => {
    const shadows = b.open({ maxShadows: 2 });
    const runs = Array.from({ length: 200 }, () => shadows.start(b.begun()));
    expect(runs.filter((run) => run !== undefined)).toHaveLength(2);
    expect(shadows.counts()).toEqual({ live: 2, sent: 0, dropped: 198 });
    await turn();
    await turn();
    answerWhole(last());
    expect(shadows.counts()).toEqual({ live: 1, sent: 1, dropped: 198 });
    expect(shadows.start(b.begun())).toBeDefined();
    shadows.stop();
  });

  test.each([
    ["a large body", b.begun({ body: { messages: [{ role: "user", content: "x".repeat(256 * 1024) }] } })],
    ["a call without a shadow", withShadow(b.begun(), undefined)],
  ])("%s has no copy", async (_, reserved) => {
    expect(b.open().start(reserved)).toBeUndefined();
  });

  test("a call that is over, a prompt that the shadow may keep, a store that cannot commit: no copy", () => {
    const over = b.begun();
    over.settled = true;
    const secret = b.begun({ key: { dataPolicy: { zdr: true } } });
    const keeps = { ...SHADOW, dataPolicy: { ...SHADOW.dataPolicy, zdr: false } };
    const sick = { ...b.deps.store, healthy: () => false };
    expect(b.open().start(over)).toBeUndefined();
    expect(b.open().start(withShadow(secret, keeps))).toBeUndefined();
    expect(b.open({ store: sick }).start(b.begun())).toBeUndefined();
  });

  test("stopped, all end and none begins", async () => {
    const shadows = b.open();
    const runs = [shadows.start(b.begun()), shadows.start(b.begun())];
    await turn();
    for (const run of runs) run?.primaryEnded(ENDED);
    shadows.stop();
    await turn();
    expect(sent.map(({ cancelled }) => cancelled)).toEqual([true]);
    expect(rows.map(({ shadowStatus }) => shadowStatus)).toEqual(["cancelled"]);
    expect(shadows.start(b.begun())).toBeUndefined();
    expect(shadows.counts()).toEqual({ live: 0, sent: 1, dropped: 2 });
  });
});

describe("faults of ours are told and stay with the copy", () => {
  const fault = () => {
    throw new TypeError("a fault of ours");
  };

  const told = [new TypeError("a fault of ours")];

  test.each([
    [
      "the upstream's call, which is an error of the copy",
      "org",
      { upstreams: { call: fault, proxiesOf: () => [] } },
      [],
    ],
    ["writing the body", "org", { bodies: { write: fault } }, told],
    ["taking a lane", "org", { health: { begin: fault } }, told],
    ["preparing the row", "org", { shadowRuns: { prepare: fault } }, told],
    ["the commit", "platform", { shadowRuns: { prepare: () => fault } }, told],
  ] as const)("in %s", async (_, bill, change, expected) => {
    const orgId = await b.org(1_000_000);
    const shadows = b.open(change as never);
    const run = shadows.start(b.begun({ bill, key: { orgId } }));
    await turn();
    if (sent.length > 0) answerWhole(last());
    expect(() => run?.primaryEnded(ENDED)).not.toThrow();
    await committed();
    expect([faults, credits.open(), shadows.counts().live]).toEqual([expected, NOTHING_HELD, 0]);
  });
});
