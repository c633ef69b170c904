/** Credentials that a provider refuses under the status of a bad request. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { mayFallBack, statusFailure } from "../../../../src/inference/upstream/failure.ts";
import { readErrorBody } from "../../../../src/wire/neutral/upstream-error.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { attemptsOf, recordOf, requestIdOf } from "../../../support/observations.ts";
import { equals, until } from "../../../support/wait.ts";

const MESSAGE = "API key not valid. Please pass a valid API key.";
const googles = (reason: string) => ({
  error: {
    code: 400,
    message: MESSAGE,
    status: "INVALID_ARGUMENT",
    details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" }],
  },
});
const failureOf = (body: unknown) =>
  statusFailure(400, readErrorBody(Buffer.from(JSON.stringify(body))), undefined);

test.each([
  ["Gemini's own API", googles("API_KEY_INVALID")],
  ["Gemini's compatible one, in a list", [googles("API_KEY_INVALID")]],
  ["Gemini's, of a key that has expired", googles("API_KEY_EXPIRED")],
])("%s: the credential's failure, not the caller's", (_, body) => {
  const failed = failureOf(body);
  expect(failed).toMatchObject({ errorClass: "auth", httpStatus: 400 });
  expect(mayFallBack(failed)).toBe(true);
});

test.each([
  ["another reason of Google's", googles("FIELD_INVALID")],
  ["details of any shape", { error: { code: 400, message: "no", details: ["API_KEY_INVALID", null, 7] } }],
  ["what only says so", { error: { message: MESSAGE } }],
])("%s: the caller's", (_, body) => {
  expect(failureOf(body)).toMatchObject({ errorClass: "client" });
});

let gateway: TestGateway;
beforeAll(async () => {
  vi.stubEnv("REVOKED_KEY", "a-revoked-key");
  const instruction = { status: 400, error_code: "API_KEY_INVALID", error_message: MESSAGE };
  gateway = await testGateway({
    endpoints: [
      { provider: "revoked", instruction, dialects: ["gemini"], credentialEnv: "REVOKED_KEY" },
      { provider: "well", instruction: {} },
    ],
  });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await gateway?.stop();
});

test("another endpoint answers, and the key is left alone", async () => {
  const svc = { route: { providers: { order: ["revoked", "well"] } } };
  const ask = () => gateway.chat({ model: "test/model", svc });
  const first = await ask();
  expect(first.status).toBe(200);
  expect(attemptsOf(await recordOf(gateway, requestIdOf(first)))).toEqual(["http_error 400 auth", "ok 200"]);
  // The gateway asks the provider itself before it leaves the key alone, and has the answer a moment later.
  const next = async () => {
    const answer = await ask();
    return [answer.status, ...attemptsOf(await recordOf(gateway, requestIdOf(answer)))];
  };
  await until("the key is left alone", next, equals([200, "ok 200"]));
});
