/** Stored responses over cells: each reads, deletes and erases what any of them stored. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ResponseOwner } from "../../../../../src/inference/exchange/kept/stored-responses.ts";
import { startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { until } from "../../../../support/wait.ts";
import { type Bench, openBench } from "../fixtures.ts";
import { type KeptCell, keptCell } from "./answers-rig.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

const open: KeptCell[] = [];
async function opened(...names: string[]): Promise<KeptCell[]> {
  for (const name of names) open.push(await keptCell(bench, name));
  return open.slice(-names.length);
}
async function stop(cell: KeptCell): Promise<void> {
  open.splice(open.indexOf(cell), 1);
  await cell.stop();
}
afterEach(async () => {
  for (const each of [...open]) await stop(each);
});

const live = { projectId: "p", environment: "live" } as const;
const trial = { projectId: "p", environment: "test" } as const;
/** A cell that cannot look at what others stored in half a second says so, and is asked again. */
const textAt = (cell: KeptCell, id: string, owner: ResponseOwner = live) =>
  until(
    "it is known what is stored",
    async () => (await cell.responses.get(owner, id))?.response,
    () => true,
  );

test("what one cell stored is read at another as soon as it was told, with its items, by its owner alone", async () => {
  const [one, two] = (await opened("a", "b")) as [KeptCell, KeptCell];
  for (let i = 0; i < 20; i++) {
    await one.store(live, `resp_${i}`, `text ${i}`);
    expect(await textAt(two, `resp_${i}`)).toBe(`text ${i}`);
  }
  const items = await two.responses.responsesWith(live, ["item_resp_3", "item_resp_4", "nobody's"]);
  expect([...items]).toEqual([
    ["item_resp_3", "resp_3"],
    ["item_resp_4", "resp_4"],
  ]);
  expect(await textAt(two, "resp_1", trial)).toBeUndefined();
  await one.store(trial, "resp_t", "of a trial");
  expect([await textAt(two, "resp_t"), await textAt(two, "test/resp_t")]).toEqual([undefined, undefined]);
  expect(await textAt(two, "resp_t", trial)).toBe("of a trial");
  await expect(two.responses.previous(live, "none")).rejects.toMatchObject({
    kind: "previous_response_not_found",
  });
});

test("what is deleted at one cell is gone at all, also at one that was away with it", async () => {
  const [one, two, away] = (await opened("a", "b", "c")) as [KeptCell, KeptCell, KeptCell];
  await one.store(live, "resp_x", "x");
  await away.store(live, "resp_away", "y");
  await stop(away);
  expect(await two.responses.remove(live, "resp_x")).toBe(true);
  expect(await two.responses.remove(live, "resp_away")).toBe(true);
  const [back] = (await opened("c")) as [KeptCell];
  for (const each of [one, two, back])
    expect([await textAt(each, "resp_x"), await textAt(each, "resp_away")]).toEqual([undefined, undefined]);
  expect(await one.responses.remove(live, "resp_x")).toBe(false);
  for (const each of [one, two, back]) {
    await each.kept.idle();
    expect(each.responses.own("p", "resp_x") ?? each.responses.own("p", "resp_away")).toBeUndefined();
  }
  const names = ((await bench.link.call("KEYS", "*")) as Buffer[]).map(String);
  expect(names.filter((name) => name.includes("resp_x") || name.includes("resp_away"))).toEqual([]);
});

test("what is erased of a project at one cell is gone at all", async () => {
  const [one, two] = (await opened("a", "b")) as [KeptCell, KeptCell];
  const project = { projectId: "erased", environment: "live" } as const;
  for (let i = 0; i < 250; i++) await one.store(project, `resp_${i}`, "personal");
  await two.cell.store.act(() => two.responses.erase("erased", 100));
  for (const each of [one, two]) await each.kept.idle();
  expect(await one.responses.get(project, "resp_7")).toBeUndefined();
  expect(await two.responses.get(project, "resp_7")).toBeUndefined();
  const names = ((await bench.link.call("KEYS", "*")) as Buffer[]).map(String);
  expect(names.filter((name) => name.includes("erased"))).toEqual([]);
  expect([...one.cell.local.table("responses").range({ start: ["erased"], end: ["erasee"] })]).toEqual([]);
});

test("what a cell stored and could not send is at the others once it is back", async () => {
  const proxy = await startFaultProxy(bench.redis.url);
  const one = await keptCell(bench, "cut off", { url: proxy.url });
  const [two] = (await opened("b")) as [KeptCell];
  proxy.refuse(true);
  await one.store(live, "resp_late", "late");
  expect(await one.responses.get(live, "resp_late")).toMatchObject({ response: "late" });
  await expect(one.responses.get(live, "resp_none")).rejects.toMatchObject({ kind: "storage_unavailable" });
  expect(await textAt(two, "resp_late")).toBeUndefined();
  await one.stop();
  await proxy.close();
  const [back] = (await opened("cut off")) as [KeptCell];
  await back.kept.idle();
  expect(await textAt(two, "resp_late")).toBe("late");
});

test("the oldest go as a whole where Redis would keep too much", async () => {
  const one = await keptCell(bench, "small", { mostBytes: 6000 });
  const [two] = (await opened("b")) as [KeptCell];
  open.push(one);
  const project = { projectId: "many", environment: "live" } as const;
  for (let i = 0; i < 20; i++) await one.store(project, `resp_${i}`, "x".repeat(500));
  const found = [];
  for (let i = 0; i < 20; i++) if (await textAt(two, `resp_${i}`, project)) found.push(i);
  expect(found.length).toBeGreaterThan(1);
  expect(found).toEqual(Array.from(found, (_, i) => 20 - found.length + i));
  const names = ((await bench.link.call("KEYS", "*")) as Buffer[]).map(String);
  expect(names.filter((name) => name.includes("item:many"))).toHaveLength(found.length);
  expect(Number(await bench.link.call("GET", "{weir}:held:r"))).toBeLessThanOrEqual(6000);
});

const RUN = { cell: "a", life: "1" } as const;

test("a response in the background is read at every cell in its newest state, and is counted once", async () => {
  const [one, two] = (await opened("a", "b")) as [KeptCell, KeptCell];
  const key = { ...live, orgId: "org", dataPolicy: { retentionDays: 7 } } as Parameters<
    typeof one.responses.put
  >[0];
  const state = (text: string, status: "in_progress" | "completed") => ({
    response: text,
    items: text,
    itemIds: status === "completed" ? ["item_bg"] : [],
    endpointId: "e",
    provider: "p",
    keyId: "k",
    background: { ...RUN, status },
  });
  const held = async () => Number(await bench.link.call("GET", "{weir}:held:r"));
  const store = async (id: string, states: number) => {
    if (states === 2)
      await one.cell.store.act(() => one.responses.put(key, id, state(`${id} begins`, "in_progress")));
    const first = one.responses.shared(key, id);
    // The first state may still be on its way when the last one is stored.
    const last = states === 2 ? "replace" : "put";
    await one.cell.store.act(() => one.responses[last](key, id, state(`${id} ends`, "completed")));
    await one.responses.shared(key, id);
    await first;
    await one.kept.idle();
  };
  let before = await held();
  await store("resp_00", 1);
  const once = (await held()) - before;
  for (let at = 10; at < 40; at++) {
    before = await held();
    await store(`resp_${at}`, 2);
    expect((await held()) - before).toBe(once);
    const found = await until(
      "it is known what is stored",
      () => two.responses.get(live, `resp_${at}`),
      () => true,
    );
    expect(found).toMatchObject({ response: `resp_${at} ends`, background: { status: "completed" } });
  }
  expect([...one.cell.local.table("response_runs").range()]).toEqual([]);
});

test("a state that comes behind its response's deletion is told to none", async () => {
  const [one, two] = (await opened("a", "b")) as [KeptCell, KeptCell];
  const key = { ...live, orgId: "org", dataPolicy: { retentionDays: 7 } } as Parameters<
    typeof one.responses.put
  >[0];
  const [endpointId, provider, keyId] = ["e", "p", "k"];
  const row = { response: "x", items: "x", itemIds: [], endpointId, provider, keyId };
  await one.cell.store.act(() =>
    one.responses.put(key, "resp_del", { ...row, background: { ...RUN, status: "in_progress" } }),
  );
  await one.responses.shared(key, "resp_del");
  expect(await two.responses.remove(live, "resp_del")).toBe(true);
  await two.kept.forgotten();
  await one.kept.forgotten();
  await one.cell.store.act(() =>
    one.responses.replace(key, "resp_del", { ...row, background: { ...RUN, status: "completed" } }),
  );
  await one.kept.idle();
  for (const cell of [one, two]) expect(await textAt(cell, "resp_del")).toBeUndefined();
  expect([...one.cell.local.table("response_runs").range()]).toEqual([]);
});

test("a hundred reads of a large one at once: Redis makes few of the answers at a time", async () => {
  const [one, other] = (await opened("a", "b")) as [KeptCell, KeptCell];
  await one.store(live, "resp_large", "x".repeat(900_000));
  const found = () => other.responses.get(live, "resp_large");
  expect(await textAt(other, "resp_large")).toHaveLength(900_000);
  const bytes = async (name: string): Promise<number> =>
    Number(new RegExp(`${name}:(\\d+)`).exec(String(await bench.link.call("INFO", "memory")))?.[1]);
  const before = await bytes("used_memory");
  let isRead = false;
  const most = (async () => {
    let peak = before;
    while (!isRead) peak = Math.max(peak, await bytes("used_memory"));
    return peak;
  })();
  // Who waits for long is told to come again.
  const read = await Promise.allSettled(Array.from({ length: 100 }, async () => await found()));
  isRead = true;
  expect(read.some((each) => each.status === "fulfilled" && each.value !== undefined)).toBe(true);
  expect((await most) - before).toBeLessThan(20_000_000);
});
