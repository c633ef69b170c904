/** Whose word says what becomes of a call whose client leaves: the request's, else the policy's, else the key's. */
import { expect, test } from "vitest";
import { ON_DISCONNECT, type OnDisconnect } from "../../../../src/base/call/on-disconnect.ts";
import { Call, type Incoming } from "../../../../src/inference/exchange/call.ts";
import { compilePolicy } from "../../../../src/routing/language/policy.ts";
import { chatFormat } from "../../../../src/wire/chat/format.ts";
import { callFacts } from "../../../support/policy.good-samples.ts";

type Said = OnDisconnect | undefined;

/** The three as they come from a body, a document and a row. */
function callOf(request: Said, policy: Said, key: OnDisconnect): Call {
  const svc = request === undefined ? {} : { svc: { on_disconnect: request } };
  const body = { model: "v/m", messages: [{ role: "user", content: "Hello" }], ...svc };
  const defaults = policy === undefined ? {} : { on_disconnect: policy };
  const compiled = compilePolicy({ version: 1, defaults }, { name: "house", version: 1 });
  const call = new Call({ format: chatFormat, key: { onDisconnect: key } } as unknown as Incoming);
  call.request = chatFormat.read(Buffer.from(JSON.stringify(body)));
  call.decision = compiled.decide(callFacts({}), call.request.svc.route);
  return call;
}

const WORDS: readonly Said[] = [undefined, ...ON_DISCONNECT];
const cases = WORDS.flatMap((request) =>
  WORDS.flatMap((policy) => ON_DISCONNECT.map((key) => ({ request, policy, key }))),
);

test.each(cases)("request $request, policy $policy, key $key", ({ request, policy, key }) => {
  const expected = request === undefined ? (policy === undefined ? key : policy) : request;
  expect(callOf(request, policy, key).onDisconnect).toBe(expected);
});

test("a call that was not read or planned yet has the key's", () => {
  const call = new Call({ format: chatFormat, key: { onDisconnect: "drain" } } as unknown as Incoming);
  expect(call.onDisconnect).toBe("drain");
});
