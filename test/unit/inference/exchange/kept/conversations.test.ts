/** Conversations in one process: who holds one, how long it is kept, what it counts, and how it ends. */
import { afterAll, describe, expect, test } from "vitest";
import { systemTimers, type Timers } from "../../../../../src/base/clock.ts";
import { DAY_MS } from "../../../../../src/base/time.ts";
import {
  type Changed,
  type ConversationKey,
  Conversations,
  conversationBytes,
} from "../../../../../src/inference/exchange/kept/conversations/conversations.ts";
import { Locks } from "../../../../../src/inference/exchange/kept/conversations/locks.ts";
import { NO_ITEMS } from "../../../../../src/wire/responses/given-items.ts";
import { tempStore } from "../../../../support/credits/fixtures.ts";

const temp = tempStore();
afterAll(() => temp.dispose());

let nowMs = Date.UTC(2026, 0, 1);
const clock = { now: () => nowMs, monotonic: () => nowMs };
const counted = new Map<string, number>();
const failures: unknown[] = [];
const conversations = new Conversations({
  store: temp.store,
  clock,
  timers: systemTimers,
  maxBytes: 10_000,
  most: 3,
  onFailure: (error) => void failures.push(error),
  kept: {
    count({ orgId, environment }, _, bytes) {
      const name = `${orgId}/${environment}`;
      const before = counted.get(name) ?? 0;
      counted.set(name, before + bytes);
      // A test's store runs each act twice.
      temp.store.ifDropped(() => void counted.set(name, before));
    },
  },
});
afterAll(() => conversations.close());

const keyOf = (projectId: string, environment: "live" | "test" = "live"): ConversationKey => ({
  orgId: "org",
  projectId,
  environment,
  dataPolicy: { retentionDays: 7 },
});
const withText = (text: string): Changed => ({
  items: text === "" ? NO_ITEMS : { items: text, ids: ["msg_1"], lengths: [text.length] },
  head: { createdS: 1, metadata: "{}", endpointId: "", provider: "", keyId: "" },
});
async function made(key: ConversationKey, text = ""): Promise<string> {
  const id = conversations.newId();
  await conversations.assertRoomFor(key, id);
  await temp.store.act(() => conversations.add(key, id, withText(text)));
  return id;
}
const rowsOf = (table: string): number => [...temp.store.table(table).range()].length;
const TABLES = ["conversations", "conversation_items", "conversation_days", "conversation_counts"];

describe("how long", () => {
  test("until its time since the last change is over, and then nothing of it is left", async () => {
    const key = keyOf("time");
    const id = await made(key, '{"role":"user"}');
    nowMs += 5 * DAY_MS;
    await temp.store.act(() => conversations.change(key, id, withText("{}"), 1));
    // The first time is over, and the sweep meets it.
    nowMs += 4 * DAY_MS;
    await conversations.sweep();
    expect(conversations.get(key, id)).toMatchObject({ head: { version: 2 }, items: { items: "{}" } });
    nowMs += 3 * DAY_MS + 1;
    expect(() => conversations.get(key, id)).toThrow(`Conversation with id '${id}' not found.`);
    expect(() => conversations.head(key, id)).toThrow(/not found/);
    nowMs += DAY_MS;
    await conversations.sweep();
    expect(TABLES.map(rowsOf)).toEqual([0, 0, 0, 0]);
    expect(counted.get("org/live")).toBe(0);
  });
});

describe("how many, and how much", () => {
  test("a project has so many with live keys, and as many with test keys; a deletion makes room", async () => {
    const [live, other] = [keyOf("many"), keyOf("many", "test")];
    const ids = [await made(live), await made(live), await made(live)];
    await expect(made(live)).rejects.toMatchObject({ kind: "plan_limit", details: { max_conversations: 3 } });
    for (let at = 0; at < 3; at++) await made(other);
    await conversations.remove(live, ids[0] ?? "");
    await made(live);
    await expect(made(live)).rejects.toMatchObject({ kind: "plan_limit" });
    await made(keyOf("another"));
    for (const project of ["many", "another"])
      await temp.store.act(() => {
        while (conversations.erase(project, 1));
      });
    expect(TABLES.slice(0, 2).map(rowsOf)).toEqual([0, 0]);
  });

  test("what it counts is what it has, whatever changes", async () => {
    const key = keyOf("bytes", "test");
    const id = await made(key, '{"role":"user","content":"ü"}');
    expect(counted.get("org/test")).toBe(conversationBytes(withText('{"role":"user","content":"ü"}')));
    expect(conversations.growth(key, id, withText(""))).toBeLessThan(0);
    await temp.store.act(() => conversations.change(key, id, withText(""), 1));
    expect(counted.get("org/test")).toBe(conversationBytes(withText("")));
    await conversations.remove(key, id);
    expect(counted.get("org/test")).toBe(0);
    expect(await temp.store.act(() => conversations.change(key, id, withText("{}"), 2))).toBe(false);
    expect(counted.get("org/test")).toBe(0);
    expect([
      conversations.fits(10_000, 10_000),
      conversations.fits(10_001, 1),
      conversations.fits(1, 10_001),
    ]).toEqual([true, false, false]);
  });
});

describe("locks", () => {
  /** Timers that fire when they are told. */
  function hand() {
    const waiting: (() => void)[] = [];
    const timers: Timers = {
      after(_, act) {
        waiting.push(act);
        return () => void waiting.splice(waiting.indexOf(act), 1);
      },
    };
    return { timers, fire: () => waiting.shift()?.(), waiting };
  }

  test("one has it, those who wait get it in their order, and whoever waited too long does not", async () => {
    const { timers, fire, waiting } = hand();
    const locks = new Locks(timers);
    expect(await locks.take("a", 1)).toBe(true);
    expect(await locks.take("b", 1)).toBe(true);
    const order: string[] = [];
    const [late, second, third] = ["late", "second", "third"].map((name) =>
      locks.take("a", 1).then((isTaken) => order.push(`${name} ${isTaken}`)),
    );
    fire();
    await late;
    locks.free("a");
    await second;
    expect(order).toEqual(["late false", "second true"]);
    locks.free("a");
    await third;
    locks.free("a");
    expect(waiting).toHaveLength(0);
    expect(await locks.take("a", 1)).toBe(true);
  });

  test("no more than sixteen wait", async () => {
    const { timers, fire } = hand();
    const locks = new Locks(timers);
    await locks.take("a", 1);
    const waiting = Array.from({ length: 16 }, () => locks.take("a", 1));
    expect(await locks.take("a", 1)).toBe(false);
    for (let at = 0; at < 16; at++) fire();
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 16 }, () => false));
  });
});

test("no sweep failed", () => expect(failures).toEqual([]));
