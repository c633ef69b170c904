/** What a folder keeps of answers: oldest first, and of the oldest beyond a bound no bytes. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { HOUR_MS } from "../../../../../src/base/time.ts";
import { IdempotentAnswers } from "../../../../../src/inference/exchange/kept/idempotency.ts";
import {
  answersInFolder,
  responsesInFolder,
} from "../../../../../src/inference/exchange/kept/kept-in-folder.ts";
import { StoredResponses } from "../../../../../src/inference/exchange/kept/stored-responses.ts";
import { ManualClock, tempStore } from "../../../../support/credits/fixtures.ts";

const MANY = 1 << 30;
let temp: ReturnType<typeof tempStore>;
let clock: ManualClock;
const closing: { close(): void }[] = [];
beforeEach(() => {
  temp = tempStore();
  clock = new ManualClock("2026-03-28T12:30:00Z");
});
afterEach(async () => {
  for (const each of closing.splice(0)) each.close();
  await temp.dispose();
});

const opened = <T extends { close(): void }>(made: T): T => {
  closing.push(made);
  return made;
};
const deps = () => ({
  store: temp.store,
  clock,
  maxBytes: MANY,
  kept: { count() {} },
  orgOf: () => undefined,
  onFailure(error: unknown) {
    throw error;
  },
});
const folder = (mostBytes: number) => ({ store: temp.store, nowMs: clock.now(), mostBytes });

test("C1: answers, for a day and an hour after they were given, and for an hour at least: the gateway replayed all", async () => {
  const answers = opened(new IdempotentAnswers(deps()));
  const body = Buffer.alloc(1000, 7);
  for (const id of ["z", "y", "x"]) {
    const answer = {
      orgId: "org_1",
      fingerprint: `f${id}`,
      requestId: `r${id}`,
      status: 200,
      isStream: false,
      body,
    };
    await temp.store.act(() =>
      answers.put(id, id === "y" ? { ...answer, lost: "large", body: Buffer.alloc(0) } : answer),
    );
    clock.advance(HOUR_MS);
  }
  const shown = (mostBytes: number) =>
    Array.from(answersInFolder(folder(mostBytes)), ({ key, row, leftMs }) => [
      key[0],
      row.lost,
      row.body.length,
      leftMs / HOUR_MS,
    ]);
  // It is 15:30: an answer of 12:30 is kept as one of 13:00.
  expect(shown(MANY)).toEqual([
    ["z", undefined, 1000, 22.5],
    ["y", "large", 0, 23.5],
    ["x", undefined, 1000, 24.5],
  ]);
  expect(shown(1500).map(([id, lost]) => [id, lost])).toEqual([
    ["z", "evicted"],
    ["y", "large"],
    ["x", undefined],
  ]);
  expect(shown(0).at(-1)).toEqual(["x", "evicted", 0, 24.5]);
  clock.advance(23 * HOUR_MS);
  expect(shown(MANY).map(([id, , , leftHours]) => [id, leftHours])).toEqual([
    ["z", 1],
    ["y", 1],
    ["x", 1.5],
  ]);
});

test("responses, until they expire", async () => {
  const responses = opened(new StoredResponses(deps()));
  // Only these members of a key are read.
  const key = (retentionDays: number) =>
    ({ projectId: "proj_1", environment: "test", dataPolicy: { retentionDays } }) as Parameters<
      StoredResponses["put"]
    >[0];
  const stored = {
    endpointId: "e",
    provider: "p",
    keyId: "k",
    itemIds: ["item"],
    items: "x".repeat(1000),
    response: "{}",
  };
  for (const [id, days] of [
    ["late", 20],
    ["soon", 2],
    ["never", 30],
  ] as const)
    await temp.store.act(() => responses.put(key(days), id, stored));
  const shown = (mostBytes: number) =>
    Array.from(responsesInFolder(folder(mostBytes)), ({ key: rowKey, leftMs }) => [
      ...rowKey,
      leftMs / 24 / HOUR_MS,
    ]);
  expect(shown(MANY)).toEqual([
    ["proj_1/test", "soon", 2],
    ["proj_1/test", "late", 20],
    ["proj_1/test", "never", 30],
  ]);
  expect(shown(2500).map(([, id]) => id)).toEqual(["late", "never"]);
  clock.advance(49 * HOUR_MS);
  expect(shown(MANY).map(([, id]) => id)).toEqual(["late", "never"]);
});
