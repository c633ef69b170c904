/** Conversations over cells: turns follow one another wherever they are made, and whatever is lost, dies or is away. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import type { Call } from "../../../../../src/inference/exchange/call.ts";
import type { ConversationKey } from "../../../../../src/inference/exchange/kept/conversations/conversations.ts";
import { CallTurn } from "../../../../../src/inference/exchange/kept/conversations/turn.ts";
import { FORMATS } from "../../../../../src/wire/formats.ts";
import { keptItems } from "../../../../../src/wire/responses/given-items.ts";
import { startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { drained } from "../../../../support/turns.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench } from "../fixtures.ts";
import { type Bounds, type KeptCell, keptCell } from "./answers-rig.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

const open: KeptCell[] = [];
async function cell(name: string, bounds: Bounds & { url?: string } = {}): Promise<KeptCell> {
  const made = await keptCell(bench, name, bounds);
  open.push(made);
  return made;
}
async function stop(one: KeptCell): Promise<void> {
  open.splice(open.indexOf(one), 1);
  if (one.cell.ended() === undefined) await one.stop();
}
afterEach(async () => {
  for (const each of [...open]) await stop(each);
});

const keyOf = (projectId: string): ConversationKey => ({
  orgId: "org",
  projectId,
  environment: "live",
  dataPolicy: { retentionDays: 7 },
});
const live = keyOf("p");
const NO_ANSWER = { endpointId: "", provider: "", keyId: "" };
let named = 0;
const itemsOf = (texts: readonly string[]) =>
  drained(
    keptItems(
      texts.map((text) => JSON.stringify({ text })).join(","),
      () => false,
      (prefix) => `${prefix}_${named++}`,
    ),
  );

async function begin({ conversations, cell: { store } }: KeptCell, key = live): Promise<string> {
  const id = conversations.newId();
  await conversations.assertRoomFor(key, id);
  await store.act(() =>
    conversations.add(key, id, {
      items: itemsOf([]),
      head: { createdS: 1, metadata: "{}", ...NO_ANSWER },
    }),
  );
  await conversations.made(key, id);
  return id;
}

/** What was said so far. */
async function read({ conversations }: KeptCell, id: string, key = live): Promise<string[]> {
  const { items } = await conversations.get(key, id);
  return JSON.parse(`[${items.items}]`).map(({ text }: { text: string }) => text);
}

/** Adds to what is there, and lets go. @param withinMs that it waits until others can have it */
async function turn(at: KeptCell, id: string, text: string, key = live, withinMs = 5000): Promise<void> {
  const { conversations, cell: of } = at;
  const lock = await conversations.lock(key, id);
  try {
    const { head } = await conversations.get(key, id);
    const texts = [...(await read(at, id, key)), text];
    await of.store.act(() => conversations.change(key, id, { head, items: itemsOf(texts) }, head.version));
    await lock.shared(withinMs);
  } finally {
    lock.release();
  }
}

const keysOf = async (part: string): Promise<string[]> =>
  ((await bench.link.call("KEYS", "*")) as Buffer[]).map(String).filter((name) => name.includes(part));

describe("turns", () => {
  test("follow one another at one cell after the other, and the newest alone is kept in folders", async () => {
    const all = [await cell("a"), await cell("b"), await cell("c")];
    const at = (i: number) => all[i % 3] as KeptCell;
    const id = await begin(at(0));
    const said: string[] = [];
    for (let i = 0; i < 30; i++) {
      await turn(at(i), id, `${i}`);
      said.push(`${i}`);
      expect(await read(at(i + 1), id)).toEqual(said);
    }
    await until(
      "cells that had older versions have dropped them",
      () => all.filter(({ conversations }) => conversations.ownHead("p", id) !== undefined).length,
      equals(1),
    );
  });

  test("of 200 at eight cells at once none is lost", async () => {
    const all = await Promise.all("abcdefgh".split("").map((name) => cell(name)));
    const id = await begin(all[0] as KeptCell);
    const ends = await Promise.allSettled(
      Array.from({ length: 200 }, (_, i) => turn(all[i % 8] as KeptCell, id, `${i}`)),
    );
    const good = ends.flatMap(({ status }, i) => (status === "fulfilled" ? [`${i}`] : []));
    for (const end of ends)
      if (end.status === "rejected") expect(end.reason).toMatchObject({ kind: "conversation_locked" });
    expect(good.length).toBeGreaterThan(0);
    for (const each of all) expect((await read(each, id)).sort()).toEqual(good.sort());
  });

  test("are refused while another cell holds the conversation, and go on when it lets go", async () => {
    const [one, two] = [await cell("a"), await cell("b")];
    const id = await begin(one);
    const lock = await one.conversations.lock(live, id);
    await expect(turn(two, id, "x")).rejects.toMatchObject({ kind: "conversation_locked" });
    expect(await read(two, id)).toEqual([]);
    const waits = turn(two, id, "y");
    lock.release();
    await waits;
    expect(await read(one, id)).toEqual(["y"]);
  });
});

test("a call whose conversation was deleted meanwhile adds nothing, and lets go of it", async () => {
  const [one, two] = [await cell("a"), await cell("b")];
  const id = await begin(one);
  const lock = await one.conversations.lock(live, id);
  const turnOfCall = new CallTurn(one.conversations, id, await one.conversations.get(live, id), lock);
  const call = { key: live, requestId: "r", warnings: [] } as unknown as Call;
  const history = FORMATS.responses.history ?? expect.fail("responses go on from conversations");
  const writer = turnOfCall.writer(call, history, JSON.stringify({ output: [] }));
  await one.conversations.remove(live, id);
  await one.cell.store.act(() => writer?.put());
  await writer?.shared();
  turnOfCall.release();
  const next = await two.conversations.lock(live, id);
  next.release();
  expect(one.conversations.ownHead("p", id)).toBeUndefined();
});

describe("a cell that is away", () => {
  test("keeps what it committed and could not tell: nobody goes on before it is back", async () => {
    const proxy = await startFaultProxy(bench.redis.url);
    const [one, two] = [await cell("cut off", { url: proxy.url }), await cell("b")];
    const id = await begin(one);
    await turn(one, id, "told");
    const lock = await one.conversations.lock(live, id);
    const { head } = await one.conversations.get(live, id);
    proxy.refuse(true);
    const changed = { head, items: itemsOf(["told", "not told"]) };
    await one.cell.store.act(() => one.conversations.change(live, id, changed, head.version));
    await lock.shared(1);
    lock.release();
    await expect(turn(two, id, "x")).rejects.toMatchObject({ kind: "conversation_locked" });
    expect(await read(two, id)).toEqual(["told"]);
    await stop(one);
    await proxy.close();
    const back = await cell("cut off");
    await back.kept.idle();
    await turn(two, id, "behind it");
    for (const each of [back, two]) expect(await read(each, id)).toEqual(["told", "not told", "behind it"]);
  });

  test("is asked for what Redis has given up; without it that is 503, and once it is retired, nothing", async () => {
    const [one, two] = [await cell("small", { mostBytes: 2000 }), await cell("b")];
    const key = keyOf("cold");
    const id = await begin(one, key);
    // It has several parts.
    const long = "x".repeat(600_000);
    await turn(one, id, long, key);
    expect(await keysOf("bytes:c/cold")).toEqual([]);
    const looked = vi.spyOn(one.conversations, "own");
    expect(await read(two, id, key)).toEqual([long]);
    // Once for all parts: to pack megabytes for each would keep its cell from all else.
    expect(looked).toHaveBeenCalledTimes(1);
    await stop(one);
    await expect(read(two, id, key)).rejects.toMatchObject({ kind: "storage_unavailable" });
    expect(await retire(bench.link, bench.id, "small", 0)).toBe(true);
    await expect(read(two, id, key)).rejects.toMatchObject({ kind: "not_found" });
  });

  test("lets go of what it held when it is retired: the next goes on from what is known", async () => {
    const [one, two] = [await cell("gone"), await cell("b")];
    const id = await begin(one);
    await turn(one, id, "first");
    await one.conversations.lock(live, id);
    await expect(turn(two, id, "x")).rejects.toMatchObject({ kind: "conversation_locked" });
    expect(await retire(bench.link, bench.id, "gone", 0)).toBe(true);
    await turn(two, id, "second");
    expect(await read(two, id)).toEqual(["first", "second"]);
    await until("it has ended", () => one.cell.ended() !== undefined, equals(true));
  });
});

describe("an end", () => {
  test("by deletion is one at all cells, also while a turn is made, and at one that was away", async () => {
    const [one, two, away] = [await cell("a"), await cell("b"), await cell("c")];
    const [id, other] = [await begin(one), await begin(away)];
    await turn(one, id, "x");
    await stop(away);
    const lock = await one.conversations.lock(live, id);
    const { head } = await one.conversations.get(live, id);
    for (const each of [id, other]) await two.conversations.remove(live, each);
    const isStored = await one.cell.store.act(() =>
      one.conversations.change(live, id, { head, items: itemsOf(["late"]) }, head.version),
    );
    lock.release();
    expect(isStored).toBe(false);
    const back = await cell("c");
    for (const each of [one, two, back]) {
      await expect(read(each, id)).rejects.toMatchObject({ kind: "not_found" });
      await expect(each.conversations.lock(live, id).then((held) => held.release())).resolves.toBeUndefined();
      await expect(turn(each, other, "x")).rejects.toMatchObject({ kind: "not_found" });
      await each.kept.idle();
      expect(each.conversations.ownHead("p", id) ?? each.conversations.ownHead("p", other)).toBeUndefined();
    }
    expect([...(await keysOf(id)), ...(await keysOf(other))]).toEqual([]);
  });

  test("by erasure leaves nothing of the project at any cell or in Redis", async () => {
    const [one, two] = [await cell("a"), await cell("b")];
    const key = keyOf("erased");
    const ids: string[] = [];
    for (let i = 0; i < 120; i++) ids.push(await begin(i % 2 === 0 ? one : two, key));
    await two.cell.store.act(() => two.responses.erase("erased", 100));
    for (const each of [one, two]) await each.kept.idle();
    for (const each of [one, two]) {
      await expect(read(each, ids[7] ?? "", key)).rejects.toMatchObject({ kind: "not_found" });
      const range = { start: ["erased"], end: ["erasee"] };
      for (const table of ["conversations", "conversation_items", "conversation_counts"])
        expect([...each.cell.local.table(table).range(range)]).toEqual([]);
    }
    expect(await keysOf("erased")).toEqual([]);
  });
});

test("a project has so many over all cells", async () => {
  const bounds = { mostConversations: 5 };
  const [one, two] = [await cell("a", bounds), await cell("b", bounds)];
  const key = keyOf("many");
  const ends = await Promise.allSettled(
    Array.from({ length: 12 }, (_, i) => begin(i % 2 === 0 ? one : two, key)),
  );
  const made = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  expect(made).toHaveLength(5);
  for (const end of ends)
    if (end.status === "rejected") expect(end.reason).toMatchObject({ kind: "plan_limit" });
  await two.conversations.remove(key, made[0] ?? "");
  await two.kept.idle();
  await begin(one, key);
});

test("those that were not changed for longest leave Redis first, and what it counts is what it has", async () => {
  const one = await cell("bounded", { mostBytes: 6000 });
  const key = keyOf("bounded");
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) ids.push(await begin(one, key));
  for (let i = 0; i < 40; i++) await turn(one, ids[i % 6] as string, "x".repeat(40), key);
  for (let i = 0; i < 10; i++) await turn(one, ids[5] as string, "x".repeat(100), key);
  const names = await keysOf("bytes:c/");
  expect(names.some((name) => name.endsWith(ids[5] as string))).toBe(true);
  expect(names.length).toBeLessThan(6);
  const held = Number(await bench.link.call("GET", "{weir}:held:c"));
  expect(held).toBeLessThanOrEqual(6000);
  const sizes = ((await bench.link.call("HVALS", "{weir}:conversation_sizes")) as Buffer[]).map(Number);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(held);
  for (const id of ids) expect((await read(one, id, key)).length).toBeGreaterThan(5);
});
