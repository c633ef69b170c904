/** Kept answers are forgotten when their time is over, however many there are: nothing grows for ever (T55). */

import { afterAll, describe, expect, test, vi } from "vitest";
import type { KeyContext } from "../../../../src/account/keyring.ts";
import type { Clock } from "../../../../src/base/clock.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/base/time.ts";
import { IdempotentAnswers } from "../../../../src/inference/exchange/kept/idempotency.ts";
import { StoredResponses } from "../../../../src/inference/exchange/kept/stored-responses.ts";
import type { Store } from "../../../../src/store/store.ts";
import { tempStore } from "../../../support/credits/fixtures.ts";

const temp = tempStore();
afterAll(() => temp.dispose());

/** More than one sweep's commit takes. */
const ROWS = 2500;

let nowMs = Date.UTC(2026, 0, 1);
const clock = { now: () => nowMs, monotonic: () => nowMs } as Clock;
const failures: unknown[] = [];
const onFailure = (error: unknown) => failures.push(error);
const uncounted = { kept: { count() {} }, orgOf: () => undefined };
const deps = { store: temp.store, clock, maxBytes: 1000, onFailure, ...uncounted };
const rowsOf = (table: string): number => [...temp.store.table(table).range()].length;

describe("after its time", () => {
  test("every answer to an Idempotency-Key is forgotten, and none before", async () => {
    const answers = new IdempotentAnswers(deps);
    const answer = {
      fingerprint: "f",
      requestId: "r",
      status: 200,
      isStream: false,
      body: Buffer.from("{}"),
    };
    await temp.store.act(() => {
      for (let i = 0; i < ROWS; i++) answers.put(`id-${i}`, answer);
    });
    nowMs += 24 * HOUR_MS;
    await answers.sweep();
    expect([rowsOf("idempotent_answers"), rowsOf("idempotent_hours")]).toEqual([ROWS, ROWS]);
    nowMs += 3 * HOUR_MS;
    await answers.sweep();
    expect([rowsOf("idempotent_answers"), rowsOf("idempotent_hours")]).toEqual([0, 0]);
    answers.close();
  });

  test("every stored response is forgotten, deleted ones with what was to remind of them", async () => {
    const responses = new StoredResponses(deps);
    const key = { projectId: "p", environment: "live", dataPolicy: { retentionDays: 7 } } as KeyContext;
    const stored = (i: number) => ({
      response: "{}",
      items: "",
      itemIds: [`msg_${i}`],
      endpointId: "e",
      provider: "p",
      keyId: "p/1",
    });
    await temp.store.act(() => {
      for (let i = 0; i < ROWS; i++) responses.put(key, `resp_${i}`, stored(i));
    });
    expect(await responses.remove(key, "resp_1")).toBe(true);
    expect(await responses.remove(key, "resp_1")).toBe(false);
    nowMs += 7 * DAY_MS;
    expect(responses.get(key, "resp_2")).toBeUndefined();
    nowMs += 2 * DAY_MS;
    await responses.sweep();
    expect(["responses", "response_items", "response_days"].map(rowsOf)).toEqual([0, 0, 0]);
    responses.close();
  });
});

test("rows as the first release wrote them go too", async () => {
  const [hour, day] = [Math.floor(nowMs / HOUR_MS), Math.ceil(nowMs / DAY_MS)];
  const put = (table: string, key: string | (string | number)[], row: unknown) =>
    temp.store.table(table).put(key, row);
  await temp.store.act(() => {
    put("idempotent_answers", "old", { fingerprint: "f" });
    put("idempotent_hours", [hour, "old"], true);
    put("responses", ["p", "resp_old"], { itemIds: ["msg_old"], expiresMs: nowMs });
    put("response_items", ["p", "msg_old"], "resp_old");
    put("response_days", [day, "p", "resp_old"], true);
  });
  nowMs += 3 * DAY_MS;
  for (const kept of [new IdempotentAnswers(deps), new StoredResponses(deps)]) {
    await kept.sweep();
    kept.close();
  }
  const tables = ["idempotent_answers", "idempotent_hours", "responses", "response_items", "response_days"];
  expect(tables.map(rowsOf)).toEqual([0, 0, 0, 0, 0]);
});

test("a sweep that fails is told, does not end the process, and is tried again", async () => {
  // Only the sweep's: the store and LMDB go on working meanwhile, and wait by timers and turns of their own.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const fault = new Error("the store is away");
  const table = () => ({
    range() {
      throw fault;
    },
  });
  const onClose: Store["onClose"] = (ending) => temp.store.onClose(ending);
  const away = { ...deps, store: { table, onClose } as unknown as Store };
  const kept = [new IdempotentAnswers(away), new StoredResponses(away)];
  // The first turn only looks at the clock.
  await vi.advanceTimersByTimeAsync(3 * 10 * 60_000);
  expect(failures).toEqual([fault, fault, fault, fault]);
  for (const each of kept) each.close();
  vi.useRealTimers();
});

test("O6: a clock that runs ahead for less than two sweeps makes nothing forgotten", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  let lieMs = 0;
  const lying: Clock = { now: () => nowMs + lieMs, monotonic: () => nowMs };
  const turn = () => {
    nowMs += 10 * 60_000;
    vi.advanceTimersByTime(10 * 60_000);
    return temp.store.act(() => {});
  };
  const answers = new IdempotentAnswers({ ...deps, clock: lying });
  const answer = { fingerprint: "f", requestId: "r", status: 200, isStream: false, body: Buffer.from("{}") };
  await temp.store.act(() => answers.put("kept", answer));
  await turn();
  for (lieMs of [365 * DAY_MS, 0, -365 * DAY_MS, 0]) {
    await turn();
    expect(rowsOf("idempotent_answers")).toBe(1);
  }
  lieMs = 365 * DAY_MS;
  await turn();
  await turn();
  expect(rowsOf("idempotent_answers")).toBe(0);
  answers.close();
  vi.useRealTimers();
});
