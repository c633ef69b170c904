/** What a record keeps of an error: the words of each kind, bounded, and none that may quote where no texts are kept. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ERRORS, type ErrorExtras, type ErrorName, fail } from "../../../../../src/base/errors.ts";
import { recordedError } from "../../../../../src/inference/exchange/errors/recorded-error.ts";
import { messagesErrorBody, messagesErrorWords } from "../../../../../src/wire/messages/errors.ts";
import { rounds } from "../../../../support/effort.ts";

const kept = (kind: ErrorName, message: string, extras?: ErrorExtras, keepsText = true) => {
  const { errorMessage, errorDetails } = recordedError(fail(kind, message, extras), {}, keepsText);
  return { message: errorMessage, ...JSON.parse(errorDetails) };
};

describe("what a record keeps of an error", () => {
  test("is nothing where there was none", () => {
    expect(recordedError(undefined, {}, true)).toEqual({ errorMessage: "", errorDetails: "" });
  });

  test("is what the client was told", () => {
    const details = { required_micro_usd: 5000, available_micro_usd: 12 };
    expect(kept("insufficient_credits", "Too little.", { details })).toEqual({
      message: "Too little.",
      type: "insufficient_credits",
      status: 402,
      details,
    });
    expect(kept("rpm", "The limit is reached.", { retryAfterMs: 412 })).toEqual({
      message: "The limit is reached.",
      type: "rate_limited",
      status: 429,
      retry_after_ms: 412,
    });
    expect(kept("upstream_rejected", "No.", { status: 422, param: "/messages/0" })).toEqual({
      message: "No.",
      type: "invalid_request",
      status: 422,
      param: "/messages/0",
    });
  });

  test("has the words of the client's format", () => {
    const told = { tokens: 300, answer: 1, maximum: 200, isEstimated: false, said: "" };
    const error = fail("context_length_exceeded", "in OpenAI's words", { overflow: told });
    const { errorMessage } = recordedError(error, { errorWords: messagesErrorWords }, true);
    expect(errorMessage).toBe(JSON.parse(messagesErrorBody(error, "id")).error.message);
    expect(errorMessage).toContain("prompt is too long");
  });

  test("without words that may quote the request, where no texts are kept", () => {
    const extras = { param: "/my secret", details: { upstream_code: "my secret" }, retryAfterMs: 7 };
    for (const kind of Object.keys(ERRORS) as ErrorName[]) {
      const row = { type: ERRORS[kind].type, status: ERRORS[kind].status, retry_after_ms: 7 };
      const told = kept(kind, "my secret", extras, false);
      expect(told).toEqual(told.message === "" ? { message: "", ...row } : expect.objectContaining(row));
    }
    const quoting: ErrorName[] = [
      "invalid_json",
      "invalid_value",
      "context_length_exceeded",
      "upstream_rejected",
      "unsupported_parameter",
      "content_policy_violation",
      "capability_not_supported",
      "model_not_found",
      "upstream_capacity",
      "upstream_error",
    ];
    for (const kind of quoting) expect(kept(kind, "my secret", extras, false).message).toBe("");
    const own: ErrorName[] = [
      "rpm",
      "insufficient_credits",
      "budget_exceeded",
      "no_endpoint",
      "denied_by_policy",
    ];
    for (const kind of own) expect(kept(kind, "words", {}, false).message).toBe("words");
  });

  test("is bounded, and says where details were cut", () => {
    expect(kept("invalid_value", "x".repeat(5000)).message).toBe(`${"x".repeat(999)}…`);
    const excluded = Array.from({ length: 64 }, (_, i) => ({
      endpoint_id: `ep_${i}`,
      reason: "r".repeat(900),
    }));
    const told = kept("no_endpoint", "None.", { details: { excluded } });
    expect(told.details_cut).toBe(true);
    expect(told.details.excluded).toHaveLength(20);
    expect(told.details.excluded[19]).toEqual({ endpoint_id: "ep_19", reason: `${"r".repeat(199)}…` });
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`member ${i}`, "v".repeat(100)]));
    expect(kept("internal", "No.", { details: wide })).toEqual({
      message: "No.",
      type: "internal",
      status: 500,
      details_cut: true,
    });
  });

  test("is at most some 10,000 characters of well-formed text, whatever it says", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 1500 });
    const details = fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(text, { maxLength: 60 })), {
      maxKeys: 40,
    });
    const property = fc.property(text, text, details, (message, param, said) => {
      const { errorMessage, errorDetails } = recordedError(
        fail("internal", message, { param, details: said }),
        {},
        true,
      );
      expect(errorMessage.length).toBeLessThanOrEqual(1000);
      expect(errorMessage.isWellFormed()).toBe(true);
      // A character of a JSON text may take six.
      expect(errorDetails.length).toBeLessThanOrEqual(8000 + 6 * 1000 + 200);
      expect(JSON.parse(errorDetails).status).toBe(500);
    });
    fc.assert(property, { numRuns: rounds(200) });
  });
});
