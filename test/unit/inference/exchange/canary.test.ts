/** What a call tells of the canary in whose share it was. */
import { expect, test } from "vitest";
import type { Call } from "../../../../src/inference/exchange/call.ts";
import { reportCanaryResult } from "../../../../src/inference/exchange/plan.ts";

const row = (endpointId: string, outcome: string, errorClass = "", httpStatus = 200) => ({
  endpointId,
  outcome,
  errorClass,
  httpStatus,
});

test.each([
  ["an answer", [row("new", "ok")], [false]],
  ["a failure, whoever answered then", [row("new", "http_error", "server"), row("old", "ok")], [true]],
  [
    "an answer with another key of the pool",
    [row("new", "rate_limited", "capacity"), row("new", "ok")],
    [false],
  ],
  ["the client's own error", [row("new", "http_error", "client", 400)], []],
  [
    "an endpoint that does not know the model",
    [row("new", "http_error", "client", 404), row("old", "ok")],
    [true],
  ],
  ["a client that left", [row("new", "cancelled")], []],
  ["a call that never reached it", [row("old", "ok")], []],
])("%s", (_, attempts, told) => {
  expect(toldBy(attempts)).toEqual(told);
});

test("a test key, with which anyone may make failures for nothing, ends no trial that live calls are in", () => {
  expect(toldBy([row("new", "http_error", "server")], "test")).toEqual([]);
});

function toldBy(attempts: readonly object[], environment = "live"): boolean[] {
  const results: boolean[] = [];
  const policy = { canaryResult: (_: string, failed: boolean) => results.push(failed) };
  reportCanaryResult({ plan: { canary: "new" }, policy, attempts, key: { environment } } as unknown as Call);
  return results;
}
