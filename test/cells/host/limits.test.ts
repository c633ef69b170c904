/** Limits of a key over three cells, of which each call goes to the next one. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { joinCells } from "../../../src/cluster/cells/open.ts";
import { readConfig } from "../../../src/host/settings/config.ts";
import { openStore } from "../../../src/store/store.ts";
import { inTurn, known } from "../../support/cells/known.ts";
import { signInAt } from "../../support/console.fixtures.ts";
import { type Answer, type TestCalls, type TestGateway, testGateway } from "../../support/gateway.ts";
import { start } from "../../support/observations.ts";
import { again } from "../../support/pace.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { equals, until } from "../../support/wait.ts";

const missing = missingRedis();
const CELLS = 3;
const WINDOW_MS = 60_000;

describe.skipIf(missing !== undefined)(
  `limits over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let gateway: TestGateway;
    let nextCell: () => TestCalls;
    beforeAll(async () => {
      gateway = await testGateway({ cells: CELLS });
      nextCell = inTurn(gateway);
    });
    afterAll(() => gateway.stop());

    /** A test key costs nothing, so only its limits refuse. */
    const newKey = async (limits: object): Promise<string> => {
      const body = { name: "limited", environment: "test", limits };
      return (await gateway.call("POST", "/v1/keys", { body })).json.secret;
    };
    const call = (cell: TestCalls, key: string, max_tokens = 5): Promise<Answer> =>
      cell.chat({ max_tokens, messages: [{ role: "user", content: "Hi" }] }, { key });
    const decided = (key: string, max_tokens = 5) => {
      const cell = nextCell();
      return known(() => call(cell, key, max_tokens));
    };
    const outcomes = (answers: readonly Answer[]) => {
      const codes = answers.map(({ status, json }) => (status === 200 ? "ok" : json.error.code));
      return Object.fromEntries(
        [...new Set(codes)].map((code) => [code, codes.filter((c) => c === code).length]),
      );
    };

    test.each([5, 100])("of 240 calls at once, %i requests a minute are admitted", async (rpm) => {
      const key = await newKey({ rpm });
      const answers = await Promise.all(Array.from({ length: 240 }, () => decided(key)));
      expect(outcomes(answers)).toEqual({ ok: rpm, rpm: 240 - rpm });
    });

    test("under steady demand no more than the limit, and almost all of it", async () => {
      const key = await newKey({ rpm: 300 });
      const answers: Answer[] = [];
      const asks = Array.from({ length: 12 }, async () => {
        while (answers.length < 600) answers.push(await decided(key));
      });
      await Promise.all(asks);
      const { ok = 0, rpm } = outcomes(answers);
      expect(ok).toBeLessThanOrEqual(300);
      expect(ok).toBeGreaterThanOrEqual(294);
      expect(rpm).toBe(answers.length - ok);
    });

    test("tokens of all cells' calls together stay within the limit", async () => {
      // A prompt counts too: this many for all calls of one shape.
      const probe = await newKey({ tpm: 100_000 });
      const used = 100_000 - Number((await decided(probe, 40)).headers.get("x-ratelimit-remaining-tokens"));
      const key = await newKey({ tpm: used * 10 + used - 1 });
      const answers = await Promise.all(Array.from({ length: 60 }, () => decided(key, 40)));
      expect(outcomes(answers)).toEqual({ ok: 10, tpm: 50 });
    });

    test("calls in flight at all cells together stay within the limit, and each that ends admits the next", async () => {
      const key = await newKey({ concurrency: 4 });
      let mostOpen = 0;
      const open = (): number => {
        const { openCalls } = gateway.simulator;
        mostOpen = Math.max(mostOpen, openCalls);
        return openCalls;
      };
      const endLooks = again(open, 2);
      // Those that are admitted last until their clients leave: a late machine has asked for all others by then.
      const leave = new AbortController();
      const codes: string[] = [];
      const content = "Hi [[sim first_ms=60000]]";
      const body = { model: "weir/sim-small", max_tokens: 5, messages: [{ role: "user", content }] };
      const refused = async () => {
        const cell = nextCell();
        const { error } = await known(async () => {
          const answer = await start(cell, body, { key, signal: leave.signal });
          return { status: answer.status, ...((await answer.json()) as { error: { code: string } }) };
        });
        codes.push(error.code);
      };
      const calls = Promise.allSettled(Array.from({ length: 30 }, refused));
      await until("all have been asked", () => [open(), codes.length], equals([4, 26])).finally(endLooks);
      leave.abort();
      await calls;
      expect([...new Set(codes)]).toEqual(["concurrency"]);
      expect(mostOpen).toBe(4);
      for (let n = 0; n < 2 * CELLS; n++) {
        const cell = nextCell();
        await until("a slot is free at the cell", async () => (await call(cell, key)).status === 200);
      }
    });

    test("the wait is never too short, whichever cell is asked, and too long by no more than Redis took to reply", async () => {
      const key = await newKey({ rpm: 2 });
      const before = Date.now();
      await decided(key);
      const after = Date.now();
      await decided(key);
      let slowestMs = 0;
      for (let n = 0; n < 2 * CELLS; n++) {
        const from = Date.now();
        const { headers, json, status } = await decided(key);
        const to = Date.now();
        expect([status, json.error.code]).toEqual([429, "rpm"]);
        const waitMs = json.error.retry_after_ms;
        expect(Number(headers.get("retry-after-ms"))).toBe(waitMs);
        // A cell asks Redis in its first refusal, and counts the wait that it is told from when it hears of it.
        slowestMs = Math.max(slowestMs, to - from);
        // The first call was counted between its two times, by another clock than this one.
        expect(waitMs).toBeGreaterThanOrEqual(before + WINDOW_MS - to - 2);
        expect(waitMs).toBeLessThanOrEqual(after + WINDOW_MS - from + slowestMs + 2);
      }
    });

    test("headers count the calls of other cells", async () => {
      const key = await newKey({ rpm: 50 });
      const left: number[] = [];
      for (let n = 0; n < 6; n++)
        left.push(Number((await decided(key)).headers.get("x-ratelimit-remaining-requests")));
      expect(left).toEqual([49, 48, 47, 46, 45, 44]);
    });

    test("each cell shows what calls of all have used of a key's limits and hold of its budget", async () => {
      const body = {
        name: "looked at",
        limits: { rpm: 50, tpm: 50_000, concurrency: 9 },
        budget: { daily_micro: 1_000_000, hard: true },
      };
      const made = (await gateway.call("POST", "/v1/keys", { body })).json;
      const leave = new AbortController();
      const content = "Hi [[sim first_ms=60000]]";
      const call = { model: "weir/sim-small", max_tokens: 50, messages: [{ role: "user", content }] };
      const open = gateway.simulator.openCalls;
      // One call at each cell is under way.
      const calls = Array.from({ length: CELLS }, () =>
        start(nextCell(), call, { key: made.secret, signal: leave.signal }).catch(() => {}),
      );
      await until("all calls are under way", () => gateway.simulator.openCalls - open, equals(CELLS));
      const shown = async (cell: TestCalls) => {
        const { json } = await known(() => cell.call("GET", `/v1/limits?q=${made.id}`));
        expect([json.live, json.keys.length]).toEqual([true, 1]);
        const [{ live, held_micro: held }] = json.keys;
        return {
          used: live.rpm_used,
          left: live.rpm_remaining,
          calls: live.concurrency_in_use,
          isHeld: held > 0,
        };
      };
      const expected = { used: CELLS, left: 50 - CELLS, calls: CELLS, isHeld: true };
      for (let n = 0; n < CELLS; n++) {
        const cell = nextCell();
        await until("the cell shows the calls of all", () => shown(cell), equals(expected));
      }
      leave.abort();
      await Promise.all(calls);
      const cell = nextCell();
      const over = { used: CELLS, left: 50 - CELLS, calls: 0, isHeld: false };
      await until("no call is under way", () => shown(cell), equals(over));
    });

    test("a person's key of the playground has one secret, whichever cells were asked for it", async () => {
      const person = await signInAt(gateway.url, { email: "player@example.com" });
      const { json } = await gateway.call("GET", "/v1/projects");
      const asked = { body: { project_id: json.data[0].id, environment: "test" } };
      const made = await Promise.all(
        Array.from({ length: 12 }, () => known(() => person.call("POST", "/v1/playground/key", asked))),
      );
      expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(made.map((answer) => answer.json.id)).size).toBe(1);
      const secrets = made.map((answer) => answer.json.secret);
      for (let n = 0; n < CELLS; n++) {
        const cell = nextCell();
        const codes = await Promise.all(
          secrets.map(async (key) => (await known(() => call(cell, key))).status),
        );
        expect(codes.toSorted()).toEqual([200, ...Array.from({ length: 11 }, () => 401)]);
      }
    });
  },
);

test("a cell whose calls may last longer than their slots are kept for it does not start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-long-calls-"));
  const secret = randomBytes(32).toString("base64");
  const { settings, ...config } = readConfig({ DATA_DIR: folder, WEIR_SECRETS_KEY: secret });
  const timeouts = { ...settings.timeouts, total_ms: 3_500_000 };
  const log = pino({ level: "silent" });
  const local = openStore(folder);
  const joined = joinCells(
    { redisUrl: join(folder, "nobody.sock"), redisReplicas: 0 },
    {
      config: { ...config, settings: { ...settings, timeouts } },
      local,
      clock: systemClock,
      log,
      lastRestore: () => undefined,
      onEnd() {},
      onOutdated() {},
    },
  );
  await expect(joined).rejects.toThrow("with several cells at most 3600000");
  await local.close();
  rmSync(folder, { recursive: true });
});
