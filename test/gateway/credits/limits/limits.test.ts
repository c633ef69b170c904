/** Limits and budgets as clients see them over HTTP. */
import { expect, test } from "vitest";
import { sharedGateway } from "../../../support/shared-gateway.ts";
import { clientsOf } from "../../sdk/fixtures.ts";

const gateway = sharedGateway();

const newKey = async (body: object) =>
  (await gateway.call("POST", "/v1/keys", { body: { name: "k", ...body } })).json;

test("O28: a request that alone exceeds tpm is told a whole window, and not to come back; SDKs do not", async () => {
  const { secret } = await newKey({ limits: { tpm: 50 } });
  const messages = [{ role: "user" as const, content: "Hi" }];
  const body = { model: "weir/sim-small", max_tokens: 51, messages };
  for (const path of ["/v1/chat/completions", "/v1/messages"]) {
    const { status, headers, json } = await gateway.call("POST", path, { body, key: secret });
    expect([status, json.error.code]).toEqual([429, "tpm"]);
    expect(["retry-after", "retry-after-ms", "x-should-retry"].map((name) => headers.get(name))).toEqual([
      "60",
      "60000",
      "false",
    ]);
    if (path !== "/v1/messages") expect(json.error.retry_after_ms).toBe(60_000);
  }
  const { openai, anthropic, sent } = clientsOf(gateway, { apiKey: secret, maxRetries: 3 });
  await expect(openai.chat.completions.create(body)).rejects.toMatchObject({ status: 429 });
  await expect(anthropic.messages.create(body)).rejects.toMatchObject({ status: 429 });
  expect(sent.count).toBe(2);
});

test("O28: a key's budget reads the same at every route", async () => {
  const budgets = [{}, { budget: { daily_micro: 7 } }, { budget: { daily_micro: 7, hard: false } }];
  for (const body of budgets) {
    const made = await newKey(body);
    const { keys } = (await gateway.call("GET", "/v1/limits")).json;
    const listed = (await gateway.call("GET", "/v1/keys")).json.data;
    const [limited, shown] = [
      keys.find((key: { key_id: string }) => key.key_id === made.id),
      listed.find((key: { id: string }) => key.id === made.id),
    ];
    const read = (await gateway.call("GET", `/v1/keys/${made.id}`)).json;
    for (const budget of [limited.budget, shown.budget, read.budget]) expect(budget).toEqual(made.budget);
    expect(made.budget).toEqual({ daily_micro: expect.any(Number), hard: expect.any(Boolean) });
  }
});
