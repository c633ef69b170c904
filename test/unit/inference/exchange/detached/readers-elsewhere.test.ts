/** Readers of calls of other cells are counted for as long as they read, however they end: an org may have only so many at a time. */
import { describe, expect, test } from "vitest";
import { systemClock, systemTimers } from "../../../../../src/base/clock.ts";
import { RunningResponses } from "../../../../../src/inference/exchange/background/running-responses.ts";
import type { LoggedCall } from "../../../../../src/inference/exchange/detached/call-log.ts";
import { CallsOfOthers } from "../../../../../src/inference/exchange/detached/elsewhere/calls-of-others.ts";
import {
  EVENTS,
  type EventsSaid,
  type Fate,
  FIND,
  type OtherCells,
  type ToldOf,
  type WholeSaid,
} from "../../../../../src/inference/exchange/detached/elsewhere/messages.ts";
import type { ReadableCall } from "../../../../../src/inference/exchange/detached/readable-call.ts";
import type { StoredResponses } from "../../../../../src/inference/exchange/kept/stored-responses.ts";
import { FORMATS } from "../../../../../src/wire/formats.ts";
import { BodyReader } from "../../../../support/body.fixtures.ts";
import { until } from "../../../../support/wait.ts";

const MOST = 1000;
const OWNER = { orgId: "o", projectId: "p", environment: "live" } as const;
const ID = "0".repeat(26);
const CALL: LoggedCall = {
  ...OWNER,
  id: ID,
  format: "responses",
  isStream: true,
  isInMemory: false,
  startedMs: 1,
};

/** Calls at another cell, which says one byte for each question about events, and of the whole answer nothing until `isOver`. */
function elsewhere() {
  const state = { isOver: false };
  let said = 0;
  const events = (): EventsSaid => ({
    kind: "said",
    isBrokenOff: false,
    bytes: Buffer.from("x"),
    next: ++said,
    skip: 0,
  });
  const whole = (): WholeSaid =>
    state.isOver ? { kind: "said", status: 200, bytes: Buffer.from("{}"), length: 2 } : { kind: "nothing" };
  const others = new CallsOfOthers({
    clock: systemClock,
    isRetired: async () => false,
    fateOf: async () => ({ kind: "lives", mayReturn: false }),
    toldOf: async () => undefined,
    tell() {},
    takeBack() {},
    async stopTelling() {},
    failedResponse: () => undefined,
    hasToldAll: async () => false,
    // A question takes a turn, as over a wire.
    async ask(topic) {
      await new Promise((resolve) => setImmediate(resolve));
      const content = topic === FIND ? CALL : topic === EVENTS ? events() : whole();
      return { kind: "answered", from: "b", content };
    },
  });
  return { others, state };
}

const found = async (others: CallsOfOthers): Promise<ReadableCall> =>
  (await others.find(ID, "b")) ?? expect.fail("it is there");

const never = () => false;
const OPTIONS = { clock: systemClock, filler: "", keepAliveMs: 0 };
const read = (call: ReadableCall) => new BodyReader((reader) => call.tell("", reader, OPTIONS));
const FULL = { kind: "gateway_unavailable" };

test("a reader of a background response that leaves behind the first part is counted no more", async () => {
  const { others } = elsewhere();
  const running = new RunningResponses({
    responses: {} as StoredResponses,
    calls: { readable: (id, cell) => others.find(id, cell) },
    clock: systemClock,
    timers: systemTimers,
    keepAliveMs: 1000,
  });
  const place = { status: "in_progress", cell: "b", life: "1" } as const;
  const stored = { response: "{}", background: place } as unknown as Parameters<typeof running.events>[2];
  const id = `${FORMATS.responses.idPrefix}${ID}`;
  for (let readers = 0; readers <= MOST; readers++) {
    const reader = new BodyReader(await running.events(OWNER, id, stored, ""));
    await reader.begun;
    reader.gone = true;
  }
});

test("readers that begin at the same moment are bounded, too", async () => {
  const { others } = elsewhere();
  const call = await found(others);
  const readers = Array.from({ length: MOST + 1 }, () => read(call));
  const firsts = await Promise.allSettled(readers.map((reader) => reader.begun));
  expect(firsts.filter(({ status }) => status === "rejected")).toMatchObject([{ reason: FULL }]);
  for (const reader of readers) reader.gone = true;
  // Each is counted down with the next answer to its question.
  await until("one more may read", () =>
    read(call).begun.then(
      () => true,
      () => false,
    ),
  );
});

test("readers of whole answers are counted with the others", async () => {
  const { others, state } = elsewhere();
  const call = await found(others);
  const waiting = Array.from({ length: MOST }, () => call.whole(never));
  await expect(call.whole(never)).rejects.toMatchObject(FULL);
  await expect(read(call).begun).rejects.toMatchObject(FULL);
  state.isOver = true;
  expect(await Promise.all(waiting)).toHaveLength(MOST);
  expect(await call.whole(never)).toEqual({ status: 200, body: Buffer.from("{}") });
});

const IN_MEMORY = { ...CALL, isInMemory: true };
const TOLD: ToldOf = { cell: "b", life: 1, content: IN_MEMORY };

/** A call that other cells find, and that its cell does not have any more when it is read. */
async function foundThenMissing(
  call: LoggedCall,
  cells: Pick<OtherCells, "toldOf" | "fateOf" | "isRetired">,
) {
  let nowMs = 0;
  const others = new CallsOfOthers({
    // What is not known within half a minute is given up.
    clock: {
      monotonic() {
        nowMs += 5000;
        return nowMs;
      },
    },
    tell() {},
    takeBack() {},
    async stopTelling() {},
    failedResponse: () => undefined,
    hasToldAll: async () => false,
    ask: async (topic) =>
      topic === FIND ? { kind: "answered", from: "b", content: call } : { kind: "nowhere" },
    ...cells,
  });
  return await found(others);
}

/** How readers of its events and of its whole answer are told that it is over: by an error, or by the end of the call. */
async function endOf(call: ReadableCall): Promise<readonly unknown[]> {
  const [events, whole] = await Promise.allSettled([read(call).all, call.whole(never)]);
  return [
    events.status === "rejected" ? events.reason : Buffer.concat(events.value).toString(),
    whole.status === "rejected" ? whole.reason : whole.value?.body.toString(),
  ];
}

const NOT_KEPT = { kind: "state", status: 409 };
const AWAY = { kind: "gateway_unavailable", status: 503 };
const ITS_END = expect.stringContaining("gateway_unavailable");

test.for<[string, LoggedCall, ToldOf | undefined, Fate["kind"], unknown]>([
  ["forgotten, in memory", IN_MEMORY, undefined, "lives", NOT_KEPT],
  ["forgotten, in the store", CALL, undefined, "lives", NOT_KEPT],
  ["in memory, and its cell began anew", IN_MEMORY, TOLD, "over", ITS_END],
  ["in memory, and its cell was retired", IN_MEMORY, TOLD, "retired", ITS_END],
  ["forgotten, in memory, before its cell was retired", IN_MEMORY, undefined, "retired", NOT_KEPT],
  ["in the store of a retired cell", CALL, undefined, "retired", ITS_END],
  ["in memory, and its cell is not known to be over", IN_MEMORY, TOLD, "lives", AWAY],
  ["in memory, and its cell was not heard of yet", IN_MEMORY, TOLD, "unknown", AWAY],
])("a call that its cell has no more: %s", async ([, call, told, kind, end]) => {
  const cells = {
    toldOf: async () => told,
    fateOf: async () => ({ kind, mayReturn: false }),
    isRetired: async () => kind === "retired",
  };
  const [events, whole] = await endOf(await foundThenMissing(call, cells));
  expect({ events, whole }).toMatchObject({ events: end, whole: end });
});

test("readers of a call in memory wait until it is known that its cell is over", async () => {
  const fates: Fate["kind"][] = ["lives", "lives"];
  const call = await foundThenMissing(IN_MEMORY, {
    toldOf: async () => TOLD,
    fateOf: async () => ({ kind: fates.pop() ?? "over", mayReturn: false }),
    isRetired: async () => false,
  });
  expect(await endOf(call)).toEqual([ITS_END, ITS_END]);
});

test("a call in memory of which nothing can be known has no end", async () => {
  const fails = () => Promise.reject(new Error("Redis is away"));
  const call = await foundThenMissing(IN_MEMORY, { toldOf: fails, fateOf: fails, isRetired: fails });
  expect(await endOf(call)).toMatchObject([AWAY, AWAY]);
});

describe("a call that no cell has, of a cell that has stopped", () => {
  const foundOf = (call: LoggedCall, kind: Fate["kind"], mayReturn = true) =>
    new CallsOfOthers({
      clock: systemClock,
      tell() {},
      takeBack() {},
      async stopTelling() {},
      failedResponse: () => undefined,
      hasToldAll: async () => false,
      ask: async () => ({ kind: "nowhere" }),
      toldOf: async () => ({ ...TOLD, content: call }),
      fateOf: async () => ({ kind, mayReturn }),
      isRetired: async () => false,
    }).find(CALL.id);

  test.for(["lives", "over"] as const)(
    "in the store, it may come back: told by a life that %s",
    async (kind) => {
      await expect(foundOf(CALL, kind)).rejects.toMatchObject(AWAY);
    },
  );

  test("in the store, it was forgotten where an earlier life told of it, and the newest told of all but it", async () => {
    expect(await foundOf(CALL, "over", false)).toBeUndefined();
  });

  test("in memory, it ended with its life where a newer one has begun since", async () => {
    await expect(foundOf(IN_MEMORY, "lives")).rejects.toMatchObject(AWAY);
    expect(await foundOf(IN_MEMORY, "over")).toMatchObject({ isGone: true });
  });
});
