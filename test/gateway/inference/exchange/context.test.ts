/** The context check: by estimate when far from the limit, by an exact count when near it, never by cutting the prompt. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [{ provider: "near", entry: { context: 1000, max_output: 100 } }],
  });
});
afterAll(() => gateway.stop());

const ask = (words: string, count: number) =>
  gateway.chat({
    model: "test/model",
    max_tokens: 10,
    messages: [{ role: "user", content: words.repeat(count) }],
  });

test.each([
  ["far below the limit, by the estimate", "hello ", 50, 200],
  // 4 bytes a token by the estimate, which would refuse it; six bytes and one token each in truth.
  ["above it by the estimate, below it by count", "hello ", 850, 200],
  // One byte and about one token each: the estimate would let it in.
  ["below it by the estimate, above it by count", "\u{1f9ea}", 600, 400],
  ["far above it, by the estimate", "hello ", 20_000, 400],
])("a prompt %s", async (_, words, count, status) => {
  const calls = gateway.simulator.totalCalls;
  const answer = await ask(words, count);
  expect(answer.status, answer.text).toBe(status);
  if (status === 200) return;
  expect(answer.json.error).toMatchObject({ code: "context_length_exceeded", param: "/messages" });
  expect(answer.json.error.details.excluded).toEqual([
    { endpoint_id: "ep_near_sim-test_local", kind: "context", reason: expect.stringContaining("1000") },
  ]);
  expect(gateway.simulator.totalCalls).toBe(calls);
});

test("nothing of a refused prompt is charged or held", async () => {
  const before = await gateway.balance();
  await ask("hello ", 20_000);
  expect(await gateway.balance()).toEqual({ ...before, held: 0 });
});
