/** S4: the quota of kept bytes over cells at a real Redis: together they stay within it, whoever is killed or comes again. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import { MergedRows } from "../../../../../src/cluster/cells/replica/merged-rows.ts";
import { KeptBytes, type KeptOwner } from "../../../../../src/credits/kept/kept-bytes.ts";
import { KeptRoom } from "../../../../../src/credits/kept/kept-pool.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type Bench, openBench } from "../fixtures.ts";

const missing = missingRedis();
let bench: Bench;
beforeAll(async () => {
  if (missing === undefined) bench = await openBench();
});
afterAll(() => bench?.close());

const isShared = (table: string) => !/^(kept|cells)\./.test(table);
const MAX = 1_000_000;
const retired = new Set<string>();

async function keptCell(name: string, running: () => number) {
  const cell = await bench.cell(name, { isShared });
  const merged = new MergedRows({ lane: cell.lane("merged"), everyMs: 3_600_000 });
  const kept = new KeptBytes({
    store: cell.store,
    clock: systemClock,
    maxBytes: () => MAX,
    retentionDays: () => 30,
    cells: {
      own: name,
      running,
      isRetired: (other) => retired.has(other),
      exchange: () => merged.flush(),
    },
    onFailure: (error) => expect.fail(String(error)),
  });
  merged.add({
    table: "kept.bytes",
    kind: "max",
    take: (most) => kept.takeUntold(most),
    heard: (rows) => kept.heard(rows),
  });
  return {
    kept,
    merged,
    cell,
    store: (owner: KeptOwner, bytes: number) => cell.store.act(() => kept.count(owner, "responses", bytes)),
    /** As a call does. */
    async take(owner: KeptOwner, bytes: number): Promise<KeptRoom | undefined> {
      const pool = kept.pool(owner);
      if (!pool.fits(bytes) && pool.mayFitSoon(bytes)) await kept.askOthers();
      return pool.fits(bytes) ? new KeptRoom(pool, bytes) : undefined;
    },
    stop: () => cell.stop(),
  };
}

const owner = (orgId: string): KeptOwner => ({ orgId, environment: "test" });

test.skipIf(missing)(
  "S4: each hears what the others keep, what they freed, and counts a repetition once",
  async () => {
    const [a, b] = [await keptCell("k1", () => 2), await keptCell("k2", () => 2)];
    const exchange = async () => {
      for (const { merged } of [a, b, a, b]) await merged.flush();
    };
    await a.store(owner("o1"), 1000);
    await b.store(owner("o1"), 300);
    await exchange();
    for (const { kept } of [a, b]) expect(kept.pool(owner("o1")).bytes).toBe(1300);
    await a.store(owner("o1"), -400);
    a.cell.cut();
    await exchange();
    for (const { kept } of [a, b]) expect(kept.pool(owner("o1")).figures.responses).toBe(900);
    // Killed, and started again on its folder: it tells all of it once more.
    await a.stop();
    const again = await keptCell("k1", () => 2);
    await again.merged.flush();
    await b.merged.flush();
    for (const { kept } of [again, b]) expect(kept.pool(owner("o1")).bytes).toBe(900);
    // Nobody keeps what a cell kept that was retired.
    retired.add("k1");
    b.kept.cellsChanged();
    expect(b.kept.pool(owner("o1")).bytes).toBe(300);
    retired.clear();
    await Promise.all([again.stop(), b.stop()]);
  },
);

test.skipIf(missing).each([0, 330_000, 900_000])(
  "S4: at once at three cells no more is taken than the quota, of which %d bytes were kept before",
  async (before) => {
    const names = [1, 2, 3].map((at) => `s${at}-${before}`);
    const cells = await Promise.all(names.map((name) => keptCell(name, () => 3)));
    const of = owner(`o${before}`);
    await cells[0]?.store(of, before);
    for (const { merged } of [...cells, ...cells]) await merged.flush();
    const asked = Array.from({ length: 400 }, (_, at) => cells[at % 3]?.take(of, 9_000));
    const rooms = (await Promise.all(asked)).filter((room) => room !== undefined);
    const takenBytes = before + rooms.length * 9_000;
    expect(takenBytes).toBeLessThanOrEqual(MAX);
    // What nobody got is less than a call's room at each cell, and what they have claimed ahead of what comes.
    expect(takenBytes).toBeGreaterThan(MAX * 0.8);
    await Promise.all(cells.map((cell) => cell.stop()));
  },
);

test.skipIf(missing)(
  "S4: calls that follow each other at all cells end at the quota, however seldom cells hear",
  async () => {
    for (const every of [1, 10, 50]) {
      const names = [1, 2, 3].map((at) => `t${at}-${every}`);
      const cells = await Promise.all(names.map((name) => keptCell(name, () => 3)));
      const of = owner(`every-${every}`);
      let storedBytes = 0;
      for (let at = 0; at < 400; at++) {
        const { take, store, merged } = cells[at % 3] as (typeof cells)[number];
        const room = await take(of, 5_000);
        if (room !== undefined) {
          await store(of, 5_000);
          room.release();
          storedBytes += 5_000;
        }
        if (at % every === 0) await merged.flush();
      }
      expect(storedBytes).toBeLessThanOrEqual(MAX);
      expect(storedBytes).toBeGreaterThan(MAX * 0.8);
      for (const { merged } of [...cells, ...cells]) await merged.flush();
      expect(cells[1]?.kept.pool(of).bytes).toBe(storedBytes);
      await Promise.all(cells.map((cell) => cell.stop()));
    }
  },
);

test.skipIf(missing)(
  "S4: one busy cell may keep nearly all, and gives way once others want some",
  async () => {
    const cells = await Promise.all(["u1", "u2", "u3"].map((name) => keptCell(name, () => 3)));
    const of = owner("busy");
    const [busy, other] = [cells[0], cells[1]] as [(typeof cells)[number], (typeof cells)[number]];
    const rooms: KeptRoom[] = [];
    for (let room = await busy.take(of, 5_000); room !== undefined; room = await busy.take(of, 5_000))
      rooms.push(room);
    expect(rooms.length * 5_000).toBeGreaterThan(MAX * 0.85);
    for (const room of rooms) room.release();
    for (let turn = 0; turn < 3; turn++) for (const { merged } of cells) await merged.flush();
    let taken = 0;
    while ((await other.take(of, 5_000)) !== undefined) taken += 5_000;
    expect(taken).toBeGreaterThan(MAX * 0.8);
    await Promise.all(cells.map((cell) => cell.stop()));
  },
);
