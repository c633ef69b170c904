/** Stored responses whose calls go on without their client: their states, what continues them, and what a killed process left. */
import { afterAll, expect, test } from "vitest";
import type { KeyContext } from "../../../../src/account/keyring.ts";
import type { Clock } from "../../../../src/base/clock.ts";
import { DAY_MS } from "../../../../src/base/time.ts";
import type { BackgroundStatus, StoredResponse } from "../../../../src/inference/exchange/kept/kept-rows.ts";
import { responseBytes, StoredResponses } from "../../../../src/inference/exchange/kept/stored-responses.ts";
import { tempStore } from "../../../support/credits/fixtures.ts";

const temp = tempStore();
afterAll(() => temp.dispose());

let nowMs = Date.UTC(2026, 0, 1);
const counted = temp.store.table<number>("counted");
const bytes = () => counted.get("o") ?? 0;
const responses = new StoredResponses({
  store: temp.store,
  clock: { now: () => nowMs, monotonic: () => nowMs } as Clock,
  maxBytes: 10_000,
  onFailure(error) {
    throw error;
  },
  kept: {
    count(_, __, more) {
      counted.put("o", bytes() + more);
    },
  },
  orgOf: () => undefined,
});
afterAll(() => responses.close());

const key = {
  orgId: "o",
  projectId: "p",
  environment: "live",
  dataPolicy: { retentionDays: 7 },
} as KeyContext;
const state = (status: BackgroundStatus, text: string): Omit<StoredResponse, "expiresMs" | "orgId"> => ({
  response: text,
  items: text,
  itemIds: status === "completed" ? ["msg"] : [],
  endpointId: "e",
  provider: "p",
  keyId: "k",
  background: { status, cell: "", life: "" },
});
const runs = () => [...temp.store.table("response_runs").range()].map(({ key: at }) => at);

test("a later state takes the place of the first, is counted once, and is kept no longer", async () => {
  const before = bytes();
  await temp.store.act(() => responses.put(key, "resp_1", state("in_progress", "begins")));
  expect(runs()).toEqual([["p", "resp_1"]]);
  nowMs += 3 * DAY_MS;
  const last = state("completed", "ends, with more text");
  await temp.store.act(() => responses.replace(key, "resp_1", last));
  expect(bytes() - before).toBe(responseBytes(last));
  expect(runs()).toEqual([]);
  expect(responses.own("p", "resp_1")).toMatchObject({
    response: "ends, with more text",
    expiresMs: Date.UTC(2026, 0, 8),
  });
  expect(responses.responseWith(key, "msg")).toBe("resp_1");
});

test("a state behind its response's deletion is none", async () => {
  const before = bytes();
  await temp.store.act(() => responses.put(key, "resp_2", state("in_progress", "begins")));
  expect(await responses.remove(key, "resp_2")).toBe(true);
  expect(runs()).toEqual([]);
  await temp.store.act(() => responses.replace(key, "resp_2", state("completed", "ends")));
  expect(responses.own("p", "resp_2")).toBeUndefined();
  expect(bytes()).toBe(before);
});

test.each<[BackgroundStatus, string]>([
  ["in_progress", "Previous response with id 'resp_3' is still in progress: wait for its end."],
  ["failed", "Previous response with id 'resp_3' has no answer to continue: it is failed."],
  ["cancelled", "Previous response with id 'resp_3' has no answer to continue: it is cancelled."],
])("one that is %s is continued by none", async (status, message) => {
  await temp.store.act(() => responses.put(key, "resp_3", state(status, "x")));
  expect(() => responses.previous(key, "resp_3")).toThrow(
    expect.objectContaining({ kind: "invalid_value", param: "/previous_response_id", message }),
  );
});

test.each<BackgroundStatus>(["completed", "incomplete"])("one that is %s is continued", async (status) => {
  await temp.store.act(() => responses.put(key, "resp_3", state(status, "x")));
  expect(responses.previous(key, "resp_3")).toMatchObject({ items: "x" });
});

const left = (at: number) =>
  state("in_progress", JSON.stringify({ status: "queued", error: null, metadata: { at: `Größe ${at}` } }));

test("what a killed process left running is ended once, at the start", async () => {
  await temp.store.act(() => {
    for (let at = 0; at < 250; at++) responses.put(key, `resp_left_${at}`, left(at));
  });
  await responses.endRuns();
  expect(runs()).toEqual([]);
  for (const at of [0, 249]) {
    const { response = "", background } = responses.own("p", `resp_left_${at}`) ?? {};
    expect(background?.status).toBe("failed");
    expect(JSON.parse(response)).toMatchObject({
      status: "failed",
      error: { code: "gateway_unavailable" },
      metadata: { at: `Größe ${at}` },
    });
  }
  await responses.endRuns();
});
