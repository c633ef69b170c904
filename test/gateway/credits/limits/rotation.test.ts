/** A rotated key and its successor share one budget, one spend and one set of limits: of the key's lineage. */
import { expect, test } from "vitest";
import { sharedGateway } from "../../../support/shared-gateway.ts";
import { equals, until } from "../../../support/wait.ts";

const gateway = sharedGateway();
const CALL = { max_tokens: 10 };

interface Key {
  readonly id: string;
  readonly secret: string;
}
const newKey = async (body: object): Promise<Key> =>
  (await gateway.call("POST", "/v1/keys", { body: { name: "k", ...body } })).json;
const rotate = async (id: string, body: object = {}): Promise<Key> => {
  const { status, json } = await gateway.call("POST", `/v1/keys/${id}/rotate`, { body });
  expect(status, JSON.stringify(json)).toBe(201);
  return json;
};
const chat = async ({ secret }: Key) => await gateway.chat(CALL, { key: secret });
const shown = async ({ id }: Key) =>
  (await gateway.call("GET", "/v1/limits")).json.keys.find(({ key_id }: { key_id: string }) => key_id === id);
/** Charges of cells come to the count a moment after their calls. */
const counted = async (key: Key, microUsd: number) =>
  await until("all calls are counted", async () => (await shown(key)).spend_today_micro, equals(microUsd));

/** What one call costs. */
async function costOfCall(): Promise<number> {
  const key = await newKey({});
  expect((await chat(key)).status).toBe(200);
  const isCounted = (microUsd: number) => microUsd > 0;
  return await until("the call is counted", async () => (await shown(key)).spend_today_micro, isCounted);
}

test("C9: a chain of rotations opens no second daily budget, and all its keys show what it spent", async () => {
  const cost = await costOfCall();
  const first = await newKey({ budget: { daily_micro: cost * 6, hard: true } });
  const keys: Key[] = [first];
  const refusals: unknown[] = [];
  let made = 0;
  for (let link = 0; link < 3; link++) {
    const key = keys.at(-1) as Key;
    for (let n = 0; n < 4; n++) {
      const { status, json } = await chat(key);
      if (status === 200) made++;
      else refusals.push([status, json.error.code, json.error.details.budget]);
    }
    await counted(key, made * cost);
    if (link > 0) await gateway.call("DELETE", `/v1/keys/${keys[link - 1]?.id}`);
    keys.push(await rotate(key.id, { grace_seconds: 3600 }));
  }
  expect(made).toBeLessThanOrEqual(6);
  expect(made).toBeGreaterThan(0);
  expect(new Set(refusals.map(String))).toEqual(new Set(["402,budget_exceeded,key_daily"]));
  // The last two of the chain work, and show the same.
  for (const key of keys.slice(-2)) {
    expect((await chat(key)).status).toBe(402);
    await counted(key, made * cost);
    expect(await shown(key)).toMatchObject({ lineage_id: first.id, spend_month_micro: made * cost });
  }
  expect((await shown(first)) ?? "revoked").toBe("revoked");
});

test("C9: a soft budget of a lineage is told of once, for the call that met it", async () => {
  const cost = await costOfCall();
  const old = await newKey({ budget: { daily_micro: cost * 2, hard: false } });
  expect((await chat(old)).status).toBe(200);
  await counted(old, cost);
  const fresh = await rotate(old.id);
  for (let n = 0; n < 2; n++) expect((await chat(fresh)).status).toBe(200);
  await counted(fresh, cost * 3);
  for (const key of [old, fresh]) expect((await chat(key)).status).toBe(200);
  const events = async () =>
    (await gateway.call("GET", "/v1/events?type=budget.exceeded")).json.data
      .map(({ data }: { data: { key_id: string } }) => data.key_id)
      .filter((id: string) => id === old.id || id === fresh.id);
  await until("it is told", events, equals([fresh.id]));
});

test("C9: requests a minute are counted for a key and its successor together", async () => {
  const old = await newKey({ limits: { rpm: 4 } });
  for (let n = 0; n < 2; n++) expect((await chat(old)).status).toBe(200);
  const fresh = await rotate(old.id);
  for (const key of [fresh, old]) expect((await chat(key)).status).toBe(200);
  for (const key of [fresh, old]) {
    const { status, json } = await chat(key);
    expect([status, json.error.code]).toEqual([429, "rpm"]);
  }
  expect((await shown(fresh)).live.rpm_remaining).toBe(0);
});

test("C9: limits and budget that are changed on one key of a lineage hold for both", async () => {
  const old = await newKey({ limits: { rpm: 4 }, budget: { daily_micro: 1_000_000, hard: true } });
  const fresh = await rotate(old.id);
  const body = { limits: { rpm: 1 }, budget: { daily_micro: 2_000_000, hard: true } };
  expect((await gateway.call("PATCH", `/v1/keys/${fresh.id}`, { body })).status).toBe(200);
  for (const key of [old, fresh]) {
    const { json } = await gateway.call("GET", `/v1/keys/${key.id}`);
    expect(json).toMatchObject(body);
  }
  expect((await chat(old)).status).toBe(200);
  expect((await chat(fresh)).status).toBe(429);
});
