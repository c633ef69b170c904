/**
 * Acts of several cells at once equal some serial order: each act records what it read and wrote, and the stream says the order; a
 * replay in that order must read the same.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readEntry } from "../../../src/cells/replica.ts";
import { seededRandom } from "../../../src/clock.ts";
import { amount } from "../../support/effort.ts";
import { type Bench, openBench, type TestCell } from "./fixtures.ts";
import { missingRedis } from "./redis-server.ts";

const missing = missingRedis();
const ACCOUNTS = 12;
const START = 100;

interface Read {
  readonly at: string;
  readonly seen: unknown;
}

interface Done {
  readonly mark: string;
  readonly reads: readonly Read[];
  readonly writes: readonly (readonly [at: string, value: unknown])[];
}

/** An act at random, over tables with keys of one part and of two. It writes its mark, by which its entry is known. */
function randomAct({ store }: TestCell, random: () => number, mark: string): Promise<Done> {
  const pick = (n: number) => Math.floor(random() * n);
  const [kind, from, to, group] = [pick(5), pick(ACCOUNTS), pick(ACCOUNTS), `g${pick(3)}`];
  const [accounts, items] = [store.table<number>("accounts"), store.table<string>("items")];
  return store.act(() => {
    const [reads, writes]: [Read[], [string, unknown][]] = [[], []];
    const balance = (account: number) => {
      const seen = accounts.get(account) ?? START;
      reads.push({ at: `accounts ${account}`, seen });
      return seen;
    };
    const set = (account: number, value: number) => {
      accounts.put(account, value);
      writes.push([`accounts ${account}`, value]);
    };
    const list = () => {
      const seen = Array.from(items.range({ start: [group], end: [group, "~"] }), ({ key, value }) => [
        key,
        value,
      ]);
      reads.push({ at: `items ${group}`, seen });
      return seen;
    };
    if (kind <= 1 && from !== to) {
      const [a, b] = [balance(from), balance(to)];
      if (a > 0) {
        set(from, a - 1);
        set(to, b + 1);
      }
    } else if (kind === 2 && list().length < 5) {
      items.put([group, mark], mark);
      writes.push([`items ${group} ${mark}`, mark]);
    } else if (kind === 3) {
      const [first] = list();
      if (first !== undefined) {
        const [key] = first as [[string, string]];
        items.remove(key);
        writes.push([`items ${key[0]} ${key[1]}`, undefined]);
      }
    } else for (let account = 0; account < ACCOUNTS; account++) balance(account);
    store.table("marks").put("last", mark);
    return { mark, reads, writes };
  });
}

/** Replays acts in the order of the stream. */
async function replay(
  bench: Bench,
  done: ReadonlyMap<string, Done>,
): Promise<{ count: number; sum: number }> {
  const found = (await bench.link.call("XRANGE", "{weir}:stream", "-", "+")) as [Buffer, Buffer[]][];
  const balances = new Map<string, number>();
  const items = new Map<string, string>();
  let count = 0;
  for (const entry of found.map(readEntry)) {
    const bytes = entry.changes.find(({ table }) => table === "marks")?.value;
    // MessagePack of a short text: one byte of length, then the text.
    const act = bytes && done.get(Buffer.from(bytes).subarray(1).toString());
    if (act === undefined) continue;
    count++;
    for (const { at, seen } of act.reads) {
      const [table, part] = at.split(" ") as [string, string];
      const mine = Array.from(items).filter(([key]) => key.startsWith(`${part} `));
      const rows = mine
        .map(([key, value]) => [key.split(" "), value])
        .sort((a, b) => (`${a[1]}` < `${b[1]}` ? -1 : 1));
      expect(seen, `${act.mark} at ${entry.version}`).toEqual(
        table === "items" ? rows : (balances.get(at) ?? START),
      );
    }
    for (const [at, value] of act.writes) {
      if (at.startsWith("accounts")) balances.set(at, value as number);
      else if (value === undefined) items.delete(at.slice(6));
      else items.set(at.slice(6), value as string);
    }
  }
  const sum = Array.from({ length: ACCOUNTS }, (_, i) => balances.get(`accounts ${i}`) ?? START);
  return { count, sum: sum.reduce((a, b) => a + b) };
}

describe.skipIf(missing !== undefined)(`serial order${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench();
  });
  afterEach(async () => await bench.close());

  test.each([
    ["", false],
    [" while Redis is killed", true],
  ])("acts of 8 cells%s equal a serial order", async (_, isKilled) => {
    const seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
    console.log(`serial order: WEIR_SEED=${seed}`);
    const all = amount(1000, 400);
    const cells = await Promise.all(Array.from("abcdefgh", (name) => bench.cell(name)));
    const done = new Map<string, Done>();
    const acting = cells.map(async (cell, at) => {
      const random = seededRandom(seed + at);
      for (let i = 0; i < all / cells.length; i += 5) {
        const acts = [0, 1, 2, 3, 4].map((j) => randomAct(cell, random, `${cell.name}${i + j}`));
        for (const act of await Promise.all(acts)) done.set(act.mark, act);
      }
    });
    if (isKilled) {
      await bench.redis.kill();
      await bench.redis.start();
    }
    await Promise.all(acting);
    expect(await replay(bench, done)).toEqual({ count: all, sum: ACCOUNTS * START });
    for (const { store } of cells) {
      const sum = Array.from({ length: ACCOUNTS }, (_, i) => store.table<number>("accounts").get(i) ?? START);
      expect(sum.reduce((a, b) => a + b)).toBe(ACCOUNTS * START);
    }
  });

  test("an act that takes long commits within 2 s beside a thousand others a second", async () => {
    const cells = await Promise.all(["a", "b", "c", "d"].map((name) => bench.cell(name)));
    const [slow, ...others] = cells as [TestCell, ...TestCell[]];
    let isStopping = false;
    let count = 0;
    const acting = others.flatMap((cell) =>
      Array.from({ length: 10 }, async (_, at) => {
        while (!isStopping) {
          await cell.store.act(() => cell.store.table("counts").put([at, cell.name], ++count));
        }
      }),
    );
    const began = performance.now();
    const sum = await slow.store.act(() => {
      const busyUntil = performance.now() + 15;
      while (performance.now() < busyUntil);
      const rows = [...slow.store.table<number>("counts").range()];
      slow.store.table("sums").put("sum", rows.length);
      return rows.length;
    });
    const tookMs = performance.now() - began;
    isStopping = true;
    await Promise.all(acting);
    console.log(`a long act took ${tookMs.toFixed(0)} ms beside ${count} others, and read ${sum} rows`);
    expect(tookMs).toBeLessThan(2000);
  });
});
