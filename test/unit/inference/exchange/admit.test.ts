/** Admission where the slot is asked for elsewhere and the answer comes later. */
import { expect, test } from "vitest";
import type { Admission, Refusal } from "../../../../src/credits/limits/limits.ts";
import { type AdmitDeps, admit } from "../../../../src/inference/exchange/admit.ts";
import { Call, type Incoming } from "../../../../src/inference/exchange/call.ts";
import { chatFormat } from "../../../../src/wire/chat/format.ts";

const ADMITTED: Admission = { admitted: true, release() {} };
const REFUSED: Refusal = { admitted: false, code: "rpm", limit: 5, retryAfterMs: 700, isHopeless: false };

/** A call that asks for 50 tokens of output twice, and limits that answer when the test says so. */
function asked() {
  const { promise, resolve } = Promise.withResolvers<Admission | Refusal>();
  const tokens: number[] = [];
  const limits = {
    admit(_key: unknown, count: number) {
      tokens.push(count);
      return promise;
    },
  };
  const deps = { limits, defaultMaxTokens: 100 } as unknown as AdmitDeps;
  const body = { model: "v/m", n: 2, max_tokens: 50, messages: [{ role: "user", content: "Hello" }] };
  const call = new Call({ format: chatFormat, key: { limits: {} } } as unknown as Incoming);
  const read = call.withRequest(chatFormat.read(Buffer.from(JSON.stringify(body))));
  return { call: read, admitted: admit(deps, read), answer: resolve, tokens };
}

test("the call is admitted when the answer comes, and has no slot before", async () => {
  const { call, admitted, answer, tokens } = asked();
  expect(admitted).toBeInstanceOf(Promise);
  expect(call.admission).toBeUndefined();
  answer(ADMITTED);
  expect((await admitted).admission).toBe(ADMITTED);
  expect(call.admission).toBe(ADMITTED);
  expect(tokens).toEqual([call.request.facts.promptTokens + 100]);
});

test("a refusal that comes later is the error of the limit, and the call has no slot", async () => {
  const { call, admitted, answer } = asked();
  answer(REFUSED);
  await expect(admitted).rejects.toMatchObject({ status: 429, retryAfterMs: 700 });
  expect(call.admission).toBeUndefined();
});
