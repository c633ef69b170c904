/** What a form says about a key, and what the API is asked by it. */
import { describe, expect, test } from "vitest";
import {
  createBody,
  faultsOf,
  type Key,
  mayActOn,
  newValues,
  patchBody,
  valuesOf,
} from "../../../console/pages/keys/key-values.ts";

const KEY: Key = {
  id: "key_1",
  project_id: "prj_1",
  name: "Batch",
  hint: "svc-live-…abcd",
  environment: "live",
  scopes: ["inference", "read:usage"],
  status: "active",
  limits: { rpm: 60 },
  budget: { daily_micro: 5_000_000, hard: false },
  on_disconnect: "cancel",
  hold: "fit",
  svc_version: "2026-09-09",
  created_at: "2026-11-30T00:00:00.000Z",
};
const values = valuesOf(KEY);
const fresh = { ...newValues({ id: "prj_1", environment: "test" }), name: " Laptop " };

describe("a new key", () => {
  test("has what was filled in, and nothing of the rest", () => {
    expect(createBody(fresh)).toEqual({
      name: "Laptop",
      project_id: "prj_1",
      environment: "test",
      scopes: ["inference", "read:usage"],
      on_disconnect: "cancel",
    });
  });

  test("has limits, budget, mode and end where they are chosen", () => {
    const chosen = {
      ...fresh,
      tpm: "1,000",
      budget: "0.5",
      isHard: false,
      hold: "full",
      expiresIn: "24h",
    } as const;
    expect(createBody(chosen)).toMatchObject({
      limits: { tpm: 1000 },
      budget: { daily_micro: 500_000, hard: false },
      hold: "full",
      expires_in: "24h",
    });
  });
});

describe("a key that is changed", () => {
  test("is asked for nothing where nothing differs", () => {
    expect(patchBody(KEY, values)).toBeUndefined();
    expect(
      patchBody(KEY, { ...values, rpm: "0060", budget: "5.00", scopes: ["read:usage", "inference"] }),
    ).toBeUndefined();
  });

  test.each([
    ["an emptied limit is cleared", { rpm: "" }, { limits: { rpm: null } }],
    ["one limit leaves the others", { tpm: "9" }, { limits: { tpm: 9 } }],
    ["an emptied budget is cleared", { budget: "" }, { budget: { daily_micro: null } }],
    ["an amount keeps its mode", { budget: "7" }, { budget: { daily_micro: 7_000_000, hard: false } }],
    ["a mode keeps its amount", { isHard: true }, { budget: { daily_micro: 5_000_000, hard: true } }],
    ["a hold mode may be the project's", { hold: "" }, { hold: null }],
    ["a key may be without end", { expiresIn: "never" }, { expires_in: null }],
    ["a key may end", { expiresIn: "720h" }, { expires_in: "720h" }],
    ["a name is without spaces around it", { name: " Nightly " }, { name: "Nightly" }],
    ["scopes are sent whole", { scopes: ["inference"] }, { scopes: ["inference"] }],
    ["a client may leave", { onDisconnect: "drain" }, { on_disconnect: "drain" }],
    ["a client may come back", { onDisconnect: "detach" }, { on_disconnect: "detach" }],
  ] as const)("%s", (_, change, body) => {
    expect(patchBody(KEY, { ...values, ...change })).toEqual(body);
  });

  test("without a budget, its mode says nothing", () => {
    const without = { ...KEY, budget: { daily_micro: 0, hard: false } };
    expect(patchBody(without, { ...valuesOf(without), isHard: false })).toBeUndefined();
  });
});

test("a form says what is wrong with it before the API is asked", () => {
  expect(faultsOf(values)).toEqual({});
  const wrong = { ...values, name: " ", rpm: "0", concurrency: "two", budget: "0", scopes: [] };
  expect(Object.keys(faultsOf(wrong)).sort()).toEqual(["budget", "concurrency", "name", "rpm", "scopes"]);
});

test("who acts on a key holds each of its scopes", () => {
  expect(mayActOn(["inference", "read:usage", "write:keys"], KEY)).toBe(true);
  expect(mayActOn(["inference"], KEY)).toBe(false);
});
