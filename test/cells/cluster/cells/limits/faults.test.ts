/** Limits of keys where cells, their clocks, the network or Redis fail; at one real Redis, in virtual time. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { STALE_MS } from "../../../../../src/cluster/cells/settings.ts";
import type { Admission } from "../../../../../src/credits/limits/limits.ts";
import { amount } from "../../../../support/effort.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type LimitsCell, type LimitsRig, mostInWindow, openLimitsRig } from "./limits-rig.ts";

const missing = missingRedis();
/** Nearly the hour after which calls under way are given up. */
const AWAY_MINUTES = amount(59, 4);

describe.skipIf(missing !== undefined)("limits of keys", () => {
  let rig: LimitsRig;
  let names = 0;
  beforeAll(async () => {
    rig = await openLimitsRig();
  });
  afterAll(async () => await rig.close());
  const newCell = () => rig.cell(`cell-${++names}`);

  const outcome = (cell: LimitsCell, keyId: string, rpm: number) => {
    try {
      const answer = cell.limits.admit({ keyId, limits: { rpm } }, 0);
      if (answer instanceof Promise) return answer.then(said, () => "503");
      return said(answer);
    } catch {
      return "503";
    }
  };
  const said = (answer: { admitted: boolean }) => {
    if (!answer.admitted) return "429";
    (answer as Admission).release();
    return "admitted";
  };
  /** Makes a key busy at a cell until it has a batch. */
  async function warmUp(cell: LimitsCell, keyId: string, rpm: number): Promise<number> {
    let admitted = 0;
    for (let i = 0; i < 12; i++) {
      if ((await Promise.all([outcome(cell, keyId, rpm), rig.pass(20)]))[0] === "admitted") admitted++;
    }
    return admitted;
  }
  /** Calls at a cell until it is refused. */
  async function exhaust(cell: LimitsCell, keyId: string, rpm: number): Promise<number> {
    for (let admitted = 0; ; admitted++) {
      const answer = outcome(cell, keyId, rpm);
      await rig.rest();
      if ((await answer) !== "admitted") return admitted;
    }
  }

  test("get back what a cell had that died, when it has aged out", async () => {
    const [cell, other] = await Promise.all([newCell(), newCell()]);
    const first = await warmUp(cell, "dead", 200);
    cell.isDead = true;
    const rest = await exhaust(other, "dead", 200);
    expect(first + rest).toBeLessThan(200);
    expect(first + rest).toBeGreaterThan(150);
    await rig.pass(60_500);
    expect(await exhaust(other, "dead", 200)).toBe(200);
  });

  test.each([
    ["a batch", 200, 200],
    // C3: as long as the cell may act without Redis.
    ["a part ahead", 1000, STALE_MS - 300],
  ])(
    "are not exceeded by the last calls on %s of a cell that died before it told of them",
    async (_, rpm, usableMs) => {
      const [cell, other] = await Promise.all([newCell(), newCell()]);
      const times: [number, number][] = [];
      const tryAt = async (from: LimitsCell, calls: number) => {
        for (let i = 0; i < calls; i++) {
          const answer = outcome(from, `last-${rpm}`, rpm);
          if (answer instanceof Promise) await rig.rest();
          if ((await answer) === "admitted") times.push([rig.nowMs(), 1]);
        }
      };
      for (let i = 0; i < 12; i++) {
        await tryAt(cell, 1);
        await rig.pass(20);
      }
      cell.isPaused = true;
      await rig.pass(usableMs);
      const before = times.length;
      for (let i = 0; i < 20; i++)
        if (outcome(cell, `last-${rpm}`, rpm) === "admitted") times.push([rig.nowMs(), 1]);
      expect(times.length).toBeGreaterThan(before);
      cell.isDead = true;
      await tryAt(other, rpm);
      await rig.pass(59_000 - usableMs, 5000);
      const endMs = rig.nowMs() + usableMs + 2500;
      for (; rig.nowMs() < endMs; await rig.pass(25, 25)) await tryAt(other, 4);
      expect(mostInWindow(times)).toBeLessThanOrEqual(rpm);
    },
  );

  test("are not used by a paused cell whose batch has ended", async () => {
    const [cell, other] = await Promise.all([newCell(), newCell()]);
    await warmUp(cell, "paused", 500);
    expect(outcome(cell, "paused", 500)).toBe("admitted");
    cell.isPaused = true;
    await rig.pass(61_000, 1000);
    expect(await exhaust(other, "paused", 500)).toBe(500);
    cell.isPaused = false;
    const late = outcome(cell, "paused", 500);
    expect(late).toBeInstanceOf(Promise);
    await rig.pass(50);
    expect(await late).toBe("429");
  });

  test.each([
    ["ahead", 600_000],
    ["back", -600_000],
  ])("are not used longer by a cell whose wall clock is set %s", async (name, jumpMs) => {
    const [cell, other] = await Promise.all([newCell(), newCell()]);
    await warmUp(cell, name, 500);
    cell.wallAheadMs += jumpMs;
    // Ahead: the batch may have ended, so the cell asks. Back: it still ends by the other clock.
    const answer = outcome(cell, name, 500);
    if (jumpMs > 0) expect(answer).toBeInstanceOf(Promise);
    else expect(answer).toBe("admitted");
    await rig.rest();
    expect(await answer).toBe("admitted");
    await warmUp(cell, name, 500);
    cell.isPaused = true;
    await rig.pass(520);
    expect(outcome(cell, name, 500)).toBeInstanceOf(Promise);
    cell.isPaused = false;
    await rig.pass(61_500, 500);
    expect(await exhaust(other, name, 500)).toBe(500);
  });

  test("count each call once where replies are lost", async () => {
    const cell = await newCell();
    let admitted = 0;
    for (let i = 0; i < 33; i++) {
      cell.repliesToLose = 1 + (i % 3);
      const answer = outcome(cell, "lost", 30);
      if ((await answer) === "admitted") admitted++;
      await rig.pass(21, 21);
    }
    expect(admitted).toBe(30);
    expect(cell.ended).toBeUndefined();
    expect(await rig.link.call("LRANGE", "{weir}:requests:lost", -1, -1)).toEqual([Buffer.from("30")]);
  });

  test("cost no latency with a Redis that takes 200 ms, while batches last", async () => {
    const cell = await newCell();
    const count = async (rounds: number) => {
      const answers = [];
      const asked = [];
      for (let i = 0; i < rounds; i++) {
        answers.push(outcome(cell, "slow", 100_000));
        // A key that is asked for each time keeps the connection busy.
        if (i % 10 === 0) asked.push(outcome(cell, "small", 5));
        await rig.pass(10, 10);
      }
      const waited = answers.filter((answer) => answer instanceof Promise).length;
      await rig.pass(500);
      return { waited, answers: await Promise.all(answers) };
    };
    await count(100);
    cell.delayMs = 100;
    // The cell learns from the first reply that renewals must go out sooner: once, calls of a tenth of a second may wait.
    const first = await count(100);
    expect(first.waited).toBeLessThanOrEqual(15);
    expect(new Set(first.answers)).toEqual(new Set(["admitted"]));
    const { waited, answers } = await count(1000);
    expect(new Set(answers)).toEqual(new Set(["admitted"]));
    expect(waited).toBe(0);
  });

  /** Those of the default plan. */
  const PLAN = { rpm: 3_000_000, tpm: 3_000_000_000, concurrency: 10_000 };
  const CALL_MS = 700;

  interface Phase {
    readonly ms: number;
    /** What is so from its beginning on. */
    readonly begin?: () => void;
  }

  /** Calls of one key, phase after phase without a gap. @returns for each phase what became of them, and how many waited for Redis */
  async function load(cell: LimitsCell, keyId: string, everyMs: number, phases: readonly Phase[]) {
    const underWay: [endMs: number, admission: Admission][] = [];
    const take = (answer: { admitted: boolean }) => {
      if (!answer.admitted) return "429";
      underWay.push([rig.nowMs() + CALL_MS, answer as Admission]);
      return "admitted";
    };
    const call = (tokens: number): string | Promise<string> => {
      try {
        const answer = cell.limits.admit({ keyId, limits: PLAN }, tokens);
        return answer instanceof Promise ? answer.then(take, () => "503") : take(answer);
      } catch {
        return "503";
      }
    };
    const seen: (string | Promise<string>)[][] = [];
    for (const { ms, begin } of phases) {
      begin?.();
      const answers: (string | Promise<string>)[] = [];
      for (const endMs = rig.nowMs() + ms; rig.nowMs() < endMs; await rig.pass(everyMs, everyMs)) {
        while ((underWay[0]?.[0] ?? Number.POSITIVE_INFINITY) <= rig.nowMs()) underWay.shift()?.[1].release();
        answers.push(call((answers.length % 7) * 300));
      }
      seen.push(answers);
    }
    await rig.pass(2000, 20);
    for (const [, admission] of underWay) admission.release();
    const outcomes = seen.map(async (answers) => ({
      waited: answers.filter((answer) => answer instanceof Promise).length,
      answers: [...new Set(await Promise.all(answers))],
    }));
    return await Promise.all(outcomes);
  }

  test.each([5, 50, 400])(
    "C3: of a plan are not waited for with replies of 400 ms, at a call every %i ms",
    async (everyMs) => {
      const cell = await newCell();
      const slow = () => {
        cell.delayMs = 200;
      };
      const phases = [{ ms: 3000 }, { ms: 10_000, begin: slow }];
      const [, during] = await load(cell, `slow-${everyMs}`, everyMs, phases);
      expect(during).toEqual({ waited: 0, answers: ["admitted"] });
    },
  );

  test.each([5, 50, 400])(
    "C3: of a plan are not waited for while Redis is away for 4 s, at a call every %i ms",
    async (everyMs) => {
      const cell = await newCell();
      const away = (isCut: boolean) => () => {
        cell.isCut = isCut;
      };
      const phases = [{ ms: 3000 }, { ms: 4000, begin: away(true) }, { ms: 2000, begin: away(false) }];
      const [, during, after] = await load(cell, `away-${everyMs}`, everyMs, phases);
      const fine = { waited: 0, answers: ["admitted"] };
      expect([during, after]).toEqual([fine, fine]);
    },
  );

  test("C3: of a plan are used for no longer than a cell may act without Redis", async () => {
    const cell = await newCell();
    const cut = () => {
      cell.isCut = true;
    };
    const phases = [{ ms: 3000 }, { ms: STALE_MS, begin: cut }, { ms: 3000 }];
    const [, , after] = await load(cell, "long away", 50, phases);
    expect(after?.answers).toEqual(["503"]);
    cell.isCut = false;
  });

  test("C3: parts that cells have ahead are a tenth of a limit together, none of one below 1,000, and come back", async () => {
    const cells = await Promise.all(Array.from({ length: 8 }, newCell));
    for (const [rpm, most] of [
      [999, 0],
      [1000, 100],
      [20_000, 2000],
    ] as const) {
      const keyId = `ahead-${rpm}`;
      const key = { keyId, limits: { rpm, tpm: rpm * 1000, concurrency: rpm } };
      for (const cell of cells)
        for (let n = 0; n < 2; n++) {
          const answer = await rig.admit(cell, key, 10);
          if (answer?.admitted === true) answer.release();
        }
      const leased = await rig.link.call("HGETALL", `{weir}:leased:${keyId}`);
      const parts = (leased as Buffer[]).map(String).filter((text) => /^\d+ \d+ \d+ \d+$/.test(text));
      const requests = parts.reduce((sum, text) => sum + Number(text.split(" ")[2]), 0);
      expect(requests + 16, keyId).toBeLessThanOrEqual(Math.max(most, 16));
      expect(parts.length, keyId).toBe(most === 0 ? 0 : cells.length);
      await rig.pass(STALE_MS + 1000);
      expect(await rig.link.call("EXISTS", `{weir}:leased:${keyId}`), keyId).toBe(0);
      expect(await exhaust(cells[0] as LimitsCell, keyId, rpm), keyId).toBe(rpm - 16);
    }
  });

  test("that must be asked for are refused with 503 at once where Redis is away, and are all there when it is back", async () => {
    const cell = await newCell();
    const key = { keyId: "away", limits: { rpm: 5, concurrency: 5 } };
    cell.isCut = true;
    const first = Array.from({ length: 7 }, () => cell.limits.admit(key, 0));
    const ends = Promise.allSettled(first);
    await rig.pass(1200);
    const kinds = (await ends).map((end) => (end.status === "rejected" ? end.reason.kind : "answered"));
    expect(new Set(kinds)).toEqual(new Set(["gateway_unavailable"]));
    expect(cell.limits.waiting()).toBe(0);
    let error: unknown;
    try {
      cell.limits.admit(key, 0);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ status: 503, retryAfterMs: 1000 });
    await rig.pass(10_000, 1000);
    cell.isCut = false;
    await rig.pass(200);
    expect(await exhaust(cell, "away", 5)).toBe(5);
    expect(cell.limits.inFlight()).toBe(0);
  });

  test("end within a minute of the first call after Redis's clock was set back", async () => {
    const cell = await newCell();
    expect(await exhaust(cell, "clock", 20)).toBe(20);
    await rig.redisAhead(-3_600_000);
    await rig.pass(50);
    expect(await exhaust(cell, "clock", 20)).toBe(0);
    await rig.pass(60_001, 10_000);
    expect(await exhaust(cell, "clock", 20)).toBe(20);
    await rig.redisAhead(0);
  });

  test("of keys that are seen once leave nothing behind", async () => {
    const cell = await newCell();
    const KEYS = process.env.WEIR_THOROUGH === undefined ? 3000 : 20_000;
    for (let i = 0; i < KEYS; i += 500) {
      const answers = Array.from({ length: 500 }, (_, n) => {
        const key = { keyId: `once-${i + n}`, limits: { rpm: 100, tpm: 100_000, concurrency: 10 } };
        return cell.limits.admit(key, 10);
      });
      const done = Promise.all(answers);
      await rig.rest();
      for (const answer of await done) if (answer.admitted) answer.release();
      await rig.rest();
    }
    const used = String(await rig.link.call("INFO", "memory")).match(/used_memory:(\d+)/)?.[1];
    if (process.env.WEIR_THOROUGH !== undefined)
      console.log(JSON.stringify({ KEYS, used, tracked: cell.limits.tracked() }));
    expect(await rig.link.call("EXISTS", "{weir}:leased:once-7")).toBe(0);
    await rig.pass(66_000, 20_000);
    for (let i = 0; i < KEYS; i++) cell.limits.admit({ keyId: "other", limits: {} }, 0);
    expect(cell.limits.tracked()).toBeLessThan(10);
    // Each key that is seen takes some of the others with it.
    for (let i = 0; i < KEYS; i += 500) {
      for (let n = 0; n < 500; n++) cell.limits.admit({ keyId: `later-${i + n}`, limits: { rpm: 100 } }, 0);
      await rig.rest();
    }
    const rows = (await rig.link.call("KEYS", "{weir}:*once-*")) as Buffer[];
    expect(rows.map(String)).toEqual([]);
  });

  test("of a cell that is without Redis for long are what it had set aside, then 503, and whole again afterwards", async () => {
    const [away, other] = await Promise.all([newCell(), newCell()]);
    const key = { keyId: "hour slots", limits: { concurrency: 5 } };
    const underWay = [await rig.admit(away, key), await rig.admit(away, key)];
    expect(underWay.map((call) => call?.admitted)).toEqual([true, true]);
    const times: [number, number][] = [];
    const call = async (cell: LimitsCell) => {
      let answer: string | undefined;
      const asked = Promise.resolve(outcome(cell, "hour", 200)).then((said) => {
        answer = said;
        if (said === "admitted") times.push([rig.nowMs(), 1]);
      });
      do await rig.pass(25);
      while (answer === undefined);
      await asked;
      return answer;
    };
    for (let n = 0; n < 20; n++) for (const cell of [away, other]) await call(cell);
    away.isCut = true;
    const cutMs = rig.nowMs();
    let lastMs = cutMs;
    for (let minute = 0; minute < AWAY_MINUTES; minute++) {
      for (let n = 0; n < (minute === 0 ? 40 : 4); n++) {
        if ((await call(away)) === "admitted") lastMs = rig.nowMs();
        await call(other);
      }
      await rig.pass(59_500, 5000);
    }
    // A batch is good for half a second.
    expect(lastMs - cutMs).toBeLessThanOrEqual(600);
    const refused = expect.objectContaining({ status: 503, retryAfterMs: 1000 });
    expect(() => away.limits.admit({ keyId: "hour", limits: { rpm: 200 } }, 0)).toThrow(refused);
    // Its calls under way count all the time.
    const others = await Promise.all([1, 2, 3, 4].map(() => rig.admit(other, key)));
    expect(others.filter((answer) => answer?.admitted === true)).toHaveLength(3);
    for (const answer of [...others, ...underWay]) if (answer?.admitted === true) answer.release();
    away.isCut = false;
    await rig.pass(61_000, 500);
    expect(away.ended).toBeUndefined();
    const again: string[] = [];
    for (let n = 0; n < 150; n++) for (const cell of [away, other]) again.push((await call(cell)) as string);
    expect(again.slice(-20)).not.toContain("503");
    expect(again.filter((answer) => answer === "admitted").length).toBeGreaterThan(150);
    expect(mostInWindow(times)).toBeLessThanOrEqual(200);
    const slots = await Promise.all([1, 2, 3].map(() => rig.admit(away, key)));
    expect(slots.every((answer) => answer?.admitted === true)).toBe(true);
    for (const answer of slots) if (answer?.admitted === true) answer.release();
  });
});
