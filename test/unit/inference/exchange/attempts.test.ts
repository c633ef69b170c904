/**
 * Attempts whose body is written in a worker thread: the clock ticks and clients leave meanwhile. Writers and upstreams are
 * held by the test, so that what happens between their steps can be chosen.
 */
import { expect, test } from "vitest";
import { systemTimers } from "../../../../src/base/clock.ts";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { type AttemptDeps, Attempts } from "../../../../src/inference/exchange/attempts.ts";
import { Call, type Incoming, type ReservedCall } from "../../../../src/inference/exchange/call.ts";
import type { Outcome } from "../../../../src/inference/exchange/outcome.ts";
import type { UpstreamHandler } from "../../../../src/inference/upstream/upstreams.ts";
import { DEFAULT_DECISION } from "../../../../src/routing/planner/decision.ts";
import { chatFormat } from "../../../../src/wire/chat/format.ts";
import type { ClientFormat, Outgoing } from "../../../../src/wire/format.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";
import { giveData } from "../../../support/upstream/give-data.ts";

const FIRST_BYTE_MS = 1000;
const WRITTEN: Outgoing = { parts: [], dropped: [] };

/** Speaks chat, but for a stream whose writer has a fault. */
const FAULTY = {
  ...chatFormat,
  splice: {
    dialect: "chat",
    passage: {
      ...chatFormat.splice?.passage,
      stream: () => ({
        read() {
          throw new TypeError("a fault of ours");
        },
      }),
    },
  },
} as unknown as ClientFormat;

/** Speaks chat, but not even a reader of its streams can be made. */
const UNREADABLE = {
  ...chatFormat,
  splice: {
    dialect: "chat",
    passage: {
      ...chatFormat.splice?.passage,
      stream() {
        throw new TypeError("a fault of ours");
      },
    },
  },
} as unknown as ClientFormat;

/** Three endpoints: the first is asked at once and says nothing, the bodies of the others are written when the test says so. */
function begin(format: ClientFormat = chatFormat) {
  const faults: unknown[] = [];
  const handlers: UpstreamHandler[] = [];
  const asked: string[] = [];
  const lanes = { taken: 0, given: 0 };
  const written = new Map<string, () => void>();
  const outcomes: Outcome[] = [];
  let nowMs = 1;
  let leave = () => {};
  const reply = { gone: false, onGone: (gone: () => void) => (leave = gone) };
  const body = { model: "v/m", stream: true, messages: [{ role: "user", content: "Hello" }] };
  const request = chatFormat.read(Buffer.from(JSON.stringify(body)));
  const key = { onDisconnect: "cancel" };
  const call = new Call({ format, reply, key, requestId: "r", startMs: 0 } as unknown as Incoming);
  const plan = {
    attempts: [endpoint("one"), endpoint("two"), endpoint("three")],
    decision: DEFAULT_DECISION,
  };
  const reserved = Object.assign(call, { plan, request, reservation: {} }) as unknown as ReservedCall;
  const deps = {
    clock: { now: () => nowMs, monotonic: () => nowMs },
    health: {
      begin(at: Endpoint) {
        lanes.taken++;
        return { endpoint: at, key: at.provider.keys[0] };
      },
      onResult: () => lanes.given++,
      patienceMs: () => 1e9,
    },
    timers: systemTimers,
    upstreams: {
      proxiesOf: () => [],
      call: ({ endpoint: { id } }: { endpoint: Endpoint }, handler: UpstreamHandler) => {
        asked.push(id);
        handlers.push(handler);
        return { cancel() {}, pause() {}, resume() {} };
      },
    },
    bodies: {
      write: (_format: unknown, _way: unknown, _request: unknown, { id }: Endpoint) =>
        id === "one" ? WRITTEN : new Promise((resolve) => written.set(id, () => resolve(WRITTEN))),
    },
    bounds: {},
    onFault: (error: unknown) => faults.push(error),
    timeouts: {
      firstByteMs: FIRST_BYTE_MS,
      stallMs: FIRST_BYTE_MS,
      totalMs: 1e6,
      drainMs: 1,
      keepAliveMs: 0,
    },
  } as unknown as AttemptDeps;
  const attempts = new Attempts(deps, reserved, (outcome) => outcomes.push(outcome));
  attempts.run();
  return {
    asked,
    faults,
    handlers,
    lanes,
    outcomes,
    leave: () => leave(),
    tick: (atMs: number) => {
      nowMs = atMs;
      attempts.tick(nowMs);
    },
    write: async (id: string) => {
      written.get(id)?.();
      await Promise.resolve();
    },
  };
}

test("the silence of the attempt before does not end one whose body is still being written", async () => {
  const { asked, tick, write } = begin();
  tick(FIRST_BYTE_MS + 1);
  tick(FIRST_BYTE_MS + 1001);
  await write("two");
  await write("three");
  expect(asked).toEqual(["one", "two"]);
  tick(FIRST_BYTE_MS * 2 + 1002);
  await write("three");
  expect(asked).toEqual(["one", "two", "three"]);
});

test("T19: a client that leaves meanwhile: nothing is asked any more, and nothing of the attempt before is billed", async () => {
  const { asked, outcomes, tick, write, leave } = begin();
  tick(FIRST_BYTE_MS + 1);
  leave();
  await write("two");
  expect(asked).toEqual(["one"]);
  expect(outcomes).toEqual([{ kind: "cancelled", stream: undefined }]);
});

test("a stream whose translation throws: the operator is told, the attempt has failed, another endpoint may answer", async () => {
  const { asked, faults, handlers, outcomes, write } = begin(FAULTY);
  const [handler] = handlers;
  handler?.onHead(200, { "content-type": "text/event-stream" });
  giveData(handler, "data: {}\n\n");
  await Promise.resolve();
  expect(faults).toEqual([new TypeError("a fault of ours")]);
  await write("two");
  expect([asked, outcomes]).toEqual([["one", "two"], []]);
});

test("an attempt that cannot even be made gives its lane back", async () => {
  const { asked, faults, lanes, outcomes, write } = begin(UNREADABLE);
  await write("two");
  await write("three");
  expect(asked).toEqual([]);
  expect(faults).toHaveLength(3);
  expect(lanes).toEqual({ taken: 3, given: 3 });
  expect(outcomes).toMatchObject([{ kind: "refused", error: { code: "internal" } }]);
});
