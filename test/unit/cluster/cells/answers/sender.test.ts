/** What goes to Redis of answers that waited while clocks were set: their keys were charged, and are never free for it. */
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { Sender } from "../../../../../src/cluster/cells/answers/sender.ts";
import { SharedClock } from "../../../../../src/cluster/cells/clock/shared-clock.ts";
import type { Operation } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import type { KeptAnswer, OwnRows } from "../../../../../src/inference/exchange/kept/kept-rows.ts";
import { tempStore } from "../../../../support/credits/fixtures.ts";

const temp = tempStore();
afterAll(() => temp.dispose());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** As long as answers can be replayed, with an hour more. */
const WHOLE = 25 * HOUR;
const BEGAN_MS = Date.UTC(2030, 0, 1);

let nowMs: number;
let clock: SharedClock;
let changes: number;
/** What the cell's folder has. */
const folder = new Map<string, KeptAnswer>();
const erased = new Set<string>();
beforeEach(() => {
  [nowMs, changes] = [BEGAN_MS, 0];
  clock = new SharedClock({ now: () => nowMs, monotonic: () => nowMs });
  folder.clear();
  erased.clear();
});

/** All clocks are set to be ahead by so much since the beginning. */
function setClocks(shiftMs: number): void {
  clock.read({ redisMs: nowMs + shiftMs, shiftMs, changes: ++changes }, clock.monotonic());
}

const own = { answer: (id: string) => folder.get(id) } as OwnRows;

function openSender() {
  const sent: Operation[] = [];
  const sender = new Sender({
    store: temp.store,
    clock,
    mostBytes: 1000,
    onShared() {},
    onSuperseded() {},
    lane: {
      async send(operations) {
        sent.push(...operations);
        return operations.map(() => []);
      },
    },
    forgotten: { hasOrg: (orgId) => erased.has(orgId), hasResponse: () => false },
    onFailure(error) {
      throw error;
    },
  });
  return { sender, sent };
}

/** A call of the key has ended, and Redis cannot be told yet. */
async function answered(id: string): Promise<void> {
  const answer = { orgId: "org", fingerprint: "f", requestId: `req_${id}`, status: 200, isStream: false };
  folder.set(id, { ...answer, body: Buffer.from("answer") });
  const { sender } = openSender();
  await temp.store.act(() => sender.willShareAnswer(id, answer));
}

/** Redis is there again. @returns what it is told of the answers */
async function told(): Promise<Operation[]> {
  const { sender, sent } = openSender();
  sender.start(own);
  await sender.idle();
  return sent.filter(([name]) => name !== "claims_over");
}

const FACTS = { requestId: "req_key", status: 200, isStream: false };
const operation = (leftMs: unknown, facts: object = FACTS, blob = 1): Operation => [
  "answer",
  "key",
  "org",
  "f",
  JSON.stringify(facts),
  leftMs,
  blob,
  1000,
];

/** Within 5 ms: Redis's time and the clock's are cut to whole milliseconds. */
const about = (ms: number) => expect.closeTo(ms, -1);

describe("C1: an answer that waits for Redis", () => {
  test.each([
    ["two days ahead", 2 * DAY],
    ["two days back", -2 * DAY],
  ])("is kept for as long as if no clock had been set, where all are set %s", async (_, shiftMs) => {
    await answered("key");
    nowMs += HOUR;
    setClocks(shiftMs);
    nowMs += HOUR;
    expect(await told()).toEqual([operation(about(WHOLE - 2 * HOUR))]);
  });

  test("takes its key for an hour more where it waited for longer than answers are kept", async () => {
    await answered("key");
    nowMs += 3 * DAY;
    expect(await told()).toEqual([operation(HOUR)]);
  });

  test("is a refusal where its folder has forgotten it meanwhile", async () => {
    await answered("key");
    folder.clear();
    const facts = { requestId: "", status: 0, isStream: false, lost: "evicted" };
    expect(await told()).toEqual([operation(WHOLE, facts, 0)]);
  });

  test("frees its key where its org was erased", async () => {
    await answered("key");
    folder.clear();
    erased.add("org");
    expect(await told()).toEqual([["unclaim_any", "key"]]);
  });

  test("of an earlier release, whose row has wall time, is kept as if it had just been made", async () => {
    await answered("key");
    await temp.store.act(() => temp.store.table<number>("cells.unshared").put(["a", "key"], BEGAN_MS));
    setClocks(2 * DAY);
    expect(await told()).toEqual([operation(WHOLE)]);
  });

  test("is restated as claimed by a new life, also where its folder has forgotten it", async () => {
    await answered("key");
    folder.clear();
    expect([...openSender().sender.waiting(own)]).toEqual([{ id: "key", fingerprint: "f", requestId: "" }]);
    await told();
    expect([...openSender().sender.waiting(own)]).toEqual([]);
  });
});
