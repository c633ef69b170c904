/** Which endpoints a call would have been served by, had they not failed: what is asked of them is said to be missed. */
import { describe, expect, test } from "vitest";
import type { Call } from "../../../../../src/inference/exchange/call.ts";
import { missedEndpoints } from "../../../../../src/inference/exchange/figures/missed.ts";

const [a, b, c] = ["a", "b", "c"].map((id) => ({ id }));
const model = { endpoints: [a, b, c] };
const missed = (more: object) => missedEndpoints({ attempts: [], model, ...more } as unknown as Call);

describe("a call that no endpoint was tried for", () => {
  const excluded = [
    { endpointId: "a", kind: "saturated" },
    { endpointId: "b", kind: "refused" },
    { endpointId: "c", kind: "data_policy" },
  ];

  test.each(["saturated", "refused"])("missed those that are out, where it was %s", (availability) => {
    expect(missed({ plan: { attempts: [], availability, excluded } })).toEqual([a, b]);
  });

  test("missed none where its own wishes left none", () => {
    expect(missed({ plan: { attempts: [], availability: "none", excluded } })).toEqual([]);
    expect(missed({})).toEqual([]);
  });
});

describe("a call that was tried", () => {
  const plan = { attempts: [a, b, c], availability: "ok", excluded: [] };
  const tried = (...attempts: object[]) => missed({ plan, attempts });
  const at = (endpointId: string, outcome: string, errorClass?: string) => ({
    endpointId,
    outcome,
    errorClass,
  });

  test("missed none where the first endpoint served it", () => {
    expect(tried(at("a", "ok"))).toEqual([]);
    expect(tried()).toEqual([]);
  });

  test("missed each that failed once, though it failed again", () => {
    expect(tried(at("a", "error", "server"), at("a", "error", "server"), at("b", "ok"))).toEqual([a]);
    expect(tried(at("a", "error", "rate_limit"), at("b", "timeout", "timeout"))).toEqual([a, b]);
  });

  test("missed none by a refusal of what the caller sent, and by a try that was given up", () => {
    expect(tried(at("a", "error", "client"))).toEqual([]);
    expect(tried(at("a", "cancelled"), at("b", "ok"))).toEqual([]);
  });
});
