/** Health over a restart: what comes back, how time goes on meanwhile, and what a failing or killed save loses. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AttemptResult, Health } from "../../../../src/routing/health/health.ts";
import {
  HealthMemory,
  type HealthRow,
  type HealthRows,
  type SavedHealth,
} from "../../../../src/routing/health/health-memory.ts";
import { openStore } from "../../../../src/store/store.ts";
import { pooled } from "../../../support/routing/fixtures.ts";
import { until } from "../../../support/wait.ts";

const OK: AttemptResult = { outcome: "ok", errorClass: "", ttftMs: 400, tokensPerSecond: 50 };
const SATURATED: AttemptResult = { outcome: "rate_limited", errorClass: "capacity" };
const BROKEN: AttemptResult = { outcome: "http_error", errorClass: "server" };
const REVOKED: AttemptResult = { outcome: "http_error", errorClass: "auth", httpStatus: 401 };
const EP = pooled("one", "sk-first-1", "sk-second-2");
const OTHER = pooled("two", "sk-third-3");

/** Wall time; each process counts its own monotonic time from its start. */
let wallMs: number;
let failures: unknown[];
let saved: Map<string, unknown>;
let onSave: (rows: readonly HealthRow[]) => void;

beforeEach(() => {
  wallMs = Date.parse("2026-07-02T10:00:00Z");
  failures = [];
  saved = new Map();
  onSave = () => {};
});

const rows: HealthRows = {
  load: () => [...saved],
  async save(all) {
    onSave(all);
    for (const [id, row] of all) {
      // As a store does: what is read is a copy.
      if (row === undefined) saved.delete(id);
      else saved.set(id, structuredClone(row));
    }
  },
};

function start(into: HealthRows = rows, everyMs?: number) {
  const startedMs = wallMs;
  const clock = { now: () => wallMs, monotonic: () => 77 + wallMs - startedMs };
  const health = new Health(clock);
  const onFailure = (error: unknown) => failures.push(error);
  const memory = new HealthMemory({ health, rows: into, clock, onFailure, ...(everyMs && { everyMs }) });
  memory.start();
  const report = (result: AttemptResult, count = 1, endpoint = EP, keyId?: string) => {
    for (let i = 0; i < count; i++) {
      const lane = health.begin(endpoint, endpoint.provider.keys, { keyId });
      if (lane === undefined) throw new Error("no lane was given");
      health.onResult(lane, result);
    }
  };
  return { health, memory, report };
}

/** What the next process knows `afterMs` later. */
async function restarted(afterMs: number, from: { memory: HealthMemory }) {
  await from.memory.stop();
  wallMs += afterMs;
  const next = start();
  await next.memory.stop();
  return next;
}

describe("comes back", () => {
  test("as it would be had the process gone on", async () => {
    const before = start();
    before.report(OK, 6);
    wallMs += 10_000;
    before.report(BROKEN, 3);
    await before.memory.flush();
    const { health } = await restarted(20_000, before);
    // The process that was stopped shares the clock: it is what nobody interrupted.
    expect(health.of(EP)?.errorRate).toBeCloseTo(before.health.of(EP)?.errorRate ?? -1, 9);
    expect(health.of(EP)).toMatchObject({ ttftMs: 400, tokensPerSecond: 50, failing: false });
    wallMs += 3_600_000;
    expect(health.of(EP)).toMatchObject({ errorRate: 0, ttftMs: undefined, tokensPerSecond: undefined });
    expect(health.of(OTHER)).toBeUndefined();
  });

  test("cool-downs included, each lane's own; one that is over is on probation, with its step", async () => {
    const before = start();
    before.report({ ...SATURATED, retryAfterMs: 30_000 }, 1, EP, "p-one/1");
    before.report(SATURATED, 1, OTHER);
    const { health, report } = await restarted(10_000, before);
    expect(health.with({ of: () => [], platformFallback: () => true }).of(EP)?.outForMs).toBe(0);
    const [first] = EP.provider.keys;
    expect(first && health.begin(EP, [first])).toBeUndefined();
    wallMs += 20_000;
    expect(first && health.begin(EP, [first])).toBeDefined();
    expect(first && health.begin(EP, [first])).toBeUndefined();
    // The first step was a second, long over: the next one doubles it.
    report(SATURATED, 1, OTHER);
    expect(health.of(OTHER)?.outForMs).toBe(2000);
  });

  test("a refused credential too, but not once it was replaced", async () => {
    const before = start();
    before.report(REVOKED, 1, OTHER);
    const { health } = await restarted(10_000, before);
    expect(health.of(OTHER)).toMatchObject({ outForMs: 50_000, isRefused: true });
    expect(health.of({ ...OTHER, id: "twin" })).toMatchObject({ outForMs: 50_000 });
    const replaced = pooled("two", "sk-other-9");
    expect(health.of(replaced)?.outForMs).toBe(0);
    expect(health.begin(replaced, replaced.provider.keys)).toBeDefined();
  });

  test("as of now where the wall clock was set back meanwhile", async () => {
    const before = start();
    before.report(BROKEN, 4);
    before.report({ ...SATURATED, retryAfterMs: 30_000 }, 1, OTHER);
    const { health } = await restarted(-3_600_000, before);
    expect(health.of(EP)?.failing).toBe(true);
    expect(health.of(OTHER)?.outForMs).toBe(30_000);
  });
});

describe("rows", () => {
  test("are written for what changed, and for nothing else", async () => {
    const written: string[][] = [];
    onSave = (all) => written.push(all.map(([id]) => id));
    const { memory, report } = start();
    await memory.flush();
    report(OK);
    report(OK, 2, OTHER);
    await memory.flush();
    report(OK);
    await memory.flush();
    await memory.flush();
    await memory.stop();
    expect(written).toEqual([["one", "two"], ["one"]]);
  });

  test("hold no credential", async () => {
    const { memory, report } = start();
    report(REVOKED, 1, OTHER);
    await memory.stop();
    const row = saved.get("two") as SavedHealth;
    expect(row.lanes).toEqual([
      { keyId: "p-two/1", hint: "rd-3", streak: 0, outForMs: 0, refusedForMs: 60_000 },
    ]);
    expect(JSON.stringify([...saved])).not.toContain("sk-third");
  });

  test("of a day ago, and those that cannot be read, are dropped and removed", async () => {
    const before = start();
    before.report(OK);
    await before.memory.stop();
    saved.set("odd", { atMs: wallMs, errors: "none" });
    saved.set("null", null);
    wallMs += 24 * 3_600_000 + 1;
    const next = start();
    expect(next.health.of(EP)).toBeUndefined();
    await next.memory.stop();
    expect([...saved]).toEqual([]);
  });
});

describe("a save that fails", () => {
  test("is told of, and what it held is saved with the next", async () => {
    const { memory, report } = start();
    onSave = () => {
      throw new Error("disk full");
    };
    report(OK);
    await memory.flush();
    expect([failures.length, saved.size]).toEqual([1, 0]);
    onSave = () => {};
    report(OK, 1, OTHER);
    await memory.flush();
    expect([failures.length, [...saved.keys()].sort()]).toEqual([1, ["one", "two"]]);
    await memory.stop();
  });

  test("that hangs holds no second one up at each interval, and the stop waits for it", async () => {
    let finish = () => {};
    let saves = 0;
    const hanging: HealthRows = {
      load: () => [],
      save() {
        saves += 1;
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    };
    const { memory, report } = start(hanging, 1);
    report(OK);
    await until("the first save runs", () => saves === 1);
    report(OK, 1, OTHER);
    const stopped = memory.stop();
    expect(saves).toBe(1);
    finish();
    await until("the last save runs", () => saves === 2);
    finish();
    await stopped;
    expect(failures).toEqual([]);
  });
});

describe("in the store", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "weir-health-"));
  });
  afterEach(() => rm(dir, { recursive: true }));

  test("what was observed an interval ago survives a process whose memory is never stopped", async () => {
    const open = () => {
      const store = openStore(dir);
      const table = store.table<SavedHealth>("routing.health");
      const stored: HealthRows = {
        *load() {
          for (const { key, value } of table.range()) yield [String(key), value];
        },
        save: (all) =>
          store.act(() => {
            for (const [id, row] of all) {
              if (row === undefined) table.remove(id);
              else table.put(id, row);
            }
          }),
      };
      return { store, stored };
    };
    const before = open();
    const running = start(before.stored, 1);
    running.report(BROKEN, 4);
    running.report({ ...SATURATED, retryAfterMs: 30_000 }, 1, OTHER);
    await until("both are saved", () => [...before.stored.load()].length === 2);
    await before.store.close();
    const after = open();
    const { health, memory } = start(after.stored);
    expect(health.of(EP)).toMatchObject({ failing: true, errorRate: 1 });
    expect(health.of(OTHER)?.outForMs).toBe(30_000);
    await memory.stop();
    // Nothing is left to save: the closed store is not asked.
    await running.memory.stop();
    expect(failures).toEqual([]);
    await after.store.close();
  });
});
