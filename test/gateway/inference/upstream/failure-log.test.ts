/** O29: what an operator sees of failing providers, and what `GET /` says to who comes by. */

import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { upstreamFailures } from "../../../../src/inference/upstream/failure-log.ts";
import type { AttemptRecord } from "../../../../src/record/record.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { requestIdOf } from "../../../support/observations.ts";

const log: string[] = [];
let gateway: TestGateway;
beforeAll(async () => {
  const failing = { provider: "failing", instruction: { status: 503 } };
  gateway = await testGateway({ log, endpoints: [failing, { provider: "healthy" }] });
});
afterAll(() => gateway.stop());

test("O29: a failed attempt is logged at info with request id, endpoint and class, and nothing of the call", async () => {
  const answer = await gateway.chat({
    model: "test/model",
    messages: [{ role: "user", content: "A secret of the caller" }],
    svc: { route: { providers: { order: ["failing", "healthy"] } } },
  });
  expect(answer.status).toBe(200);
  const lines = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "an upstream failed");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    level: 30,
    requestId: requestIdOf(answer),
    endpoint: "ep_failing_sim-test_local",
    outcome: "http_error",
    errorClass: "capacity",
    httpStatus: 503,
    attempt: 1,
  });
  expect(log.join("")).not.toContain("A secret of the caller");
  expect(log.join("")).not.toContain(gateway.liveKey);
});

test("O29: a flood of failures is bounded in rate, and the next line says how many were left out", () => {
  const lines: string[] = [];
  let nowMs = 0;
  const clock = { ...systemClock, monotonic: () => nowMs };
  const tell = upstreamFailures(
    pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
    clock,
  );
  const attempt = { endpointId: "ep_x", outcome: "timeout", errorClass: "timeout" } as AttemptRecord;
  for (let i = 0; i < 10_000; i++) tell(`req_${i}`, attempt);
  expect(lines).toHaveLength(50);
  nowMs = 1000;
  for (let i = 0; i < 100; i++) tell(`later_${i}`, attempt);
  expect(lines).toHaveLength(60);
  expect(JSON.parse(lines[50] ?? "")).toMatchObject({ requestId: "later_0", unlogged: 9950 });
  expect(JSON.parse(lines[51] ?? "")).not.toHaveProperty("unlogged");
});

test("O29: GET / says what this is and where to go, as JSON or for a browser", async () => {
  const { status, json } = await gateway.call("GET", "/", { key: null });
  expect([status, json]).toEqual([
    200,
    expect.objectContaining({
      name: "weir",
      version: expect.stringMatching(/^\d/),
      docs: "/docs",
      openapi: "/openapi.json",
      models: "/v1/models",
      health: "/healthz",
    }),
  ]);
  const page = await gateway.call("GET", "/", { key: null, headers: { accept: "text/html,*/*;q=0.8" } });
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  for (const path of ["/docs", "/openapi.json", "/v1/models", "/healthz"]) {
    expect(page.text).toContain(`href="${path}"`);
    const key = path.startsWith("/v1") ? gateway.liveKey : null;
    expect((await gateway.call("GET", path, { key })).status).toBe(200);
  }
  expect((await gateway.call("POST", "/", { key: null })).status).toBe(405);
});
