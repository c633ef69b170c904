/** What the page of a request says of one that was refused, and what a signed receipt states. */
import { expect, test } from "vitest";
import { adviceOn, budgetOf, type CallError } from "../../../console/pages/requests/refusal-advice.ts";
import { readReceipt } from "../../../console/text/receipt.ts";

const error = (code: string, details: Record<string, unknown> = {}): CallError => ({
  type: "any",
  code,
  message: null,
  status: 400,
  param: null,
  details,
});

test.each([
  ["budget_exceeded", { budget: "key_daily" }, ["keys", "key_1"]],
  ["budget_exceeded", { budget: "org_monthly" }, undefined],
  ["insufficient_credits", {}, ["credits"]],
  ["rpm", {}, ["keys", "key_1"]],
  ["model_not_found", {}, ["models"]],
  ["upstream_error", {}, undefined],
])("%s %j says what to do, and leads to %j", (code, details, to) => {
  const advice = adviceOn(error(code, details), "key_1");
  expect(advice?.text).toMatch(/\.$/);
  expect(advice?.page?.to).toEqual(to);
});

test("what the gateway's own words say is left to them", () => {
  expect(adviceOn(error("denied_by_policy"), "key_1")).toBeUndefined();
});

test("a budget that refused has its figures; details that were cut have none", () => {
  const details = {
    budget: "key_daily",
    limit_micro: 100,
    spent_micro: 90,
    held_micro: 0,
    required_micro_usd: 12,
    resets_at: "2026-12-01T00:00:00.000Z",
  };
  expect(budgetOf(error("budget_exceeded", details))).toEqual({
    whose: "The key's, of the day",
    limit: 100,
    spent: 90,
    held: 0,
    required: 12,
    resetsAt: "2026-12-01T00:00:00.000Z",
  });
  const { spent_micro: _, ...cut } = details;
  expect(budgetOf(error("budget_exceeded", cut))).toBeUndefined();
  expect(budgetOf(error("rpm"))).toBeUndefined();
});

test("a receipt is read as it was signed, in any script", () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const jws = `${part({ alg: "EdDSA", kid: "k1" })}.${part({ model: "模型 ÿ?>" })}.sig\n`;
  expect(readReceipt(jws)).toEqual({ keyId: "k1", receipt: { model: "模型 ÿ?>" } });
  expect(() => readReceipt("no receipt")).toThrow();
});
