/** Which failures the operator counts as refusals that no row of the table knows. */
import { expect, test } from "vitest";
import { answerFailure, reportedFailure } from "../../../../src/inference/upstream/failure.ts";
import { isUnmatched } from "../../../../src/inference/upstream/refusals/unmatched.ts";
import { readErrorValue } from "../../../../src/wire/neutral/upstream-error.ts";

const CASES: readonly (readonly [body: object, status: number, isCounted: boolean])[] = [
  [{ error: { message: "odd" } }, 400, true],
  [{ error: { message: "odd" } }, 403, true],
  [{ error: { message: "odd" } }, 404, true],
  [{ error: { message: "odd" } }, 200, true],
  [{ error: { message: "odd", type: "api_error" } }, 200, true],
  [{ error: { message: "odd", type: "invalid_request_error" } }, 200, true],
  // Rows match.
  [{ error: { message: "odd" } }, 429, false],
  [{ error: { message: "odd", code: 429 } }, 200, false],
  [{ error: { message: "odd", code: "context_length_exceeded" } }, 200, false],
  // No provider refused: a proxy gave up, or the model or its server failed.
  [{ error: { message: "odd" } }, 408, false],
  [{ error: { message: "odd" } }, 499, false],
  [{ message: "odd" }, 424, false],
  [{ error: { message: "odd" } }, 500, false],
  [{ error: { message: "odd", code: 502 } }, 200, false],
  [{ error: { message: "odd", type: "server_error" } }, 200, false],
  [{ error: { message: "odd", code: 500, status: "INTERNAL" } }, 200, false],
  [{ type: "error", error: { type: "timeout_error", message: "odd" } }, 200, false],
];

test.each(CASES)("%o with %d: %s", (body, status, isCounted) => {
  const failed =
    status === 200
      ? reportedFailure(readErrorValue(body), 200)
      : answerFailure(status, {}, Buffer.from(JSON.stringify(body)), 0);
  const { outcome, errorClass, refusal, upstream } = failed;
  const upstreamCode = upstream.code || upstream.type;
  expect(isUnmatched({ outcome, errorClass, upstreamCode, refusal: refusal?.row ?? "" })).toBe(isCounted);
});
