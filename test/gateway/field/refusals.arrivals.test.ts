/** The same refusal is told the same way, however it arrives: by a status, with status 200, within a stream, in a router's envelope. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { ClientName } from "../../support/conformance/ends.ts";
import { CLIENTS } from "../../support/conformance/pairs.ts";
import { type Field, startField, type TargetName } from "../../support/field/field.ts";
import { ASKING } from "../../support/field/overflows.ts";
import type { Scripted } from "../../support/field/upstream.ts";

const ALL_CLIENTS = Object.keys(CLIENTS) as ClientName[];
const TIER = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 61337.";
const openai = (code: string | null, type = "invalid_request_error") => ({
  error: { message: TIER, type, param: null, code },
});
const raw = JSON.stringify(openai("rate_limit_exceeded", "tokens"));
const event = (data: object): Scripted => ({
  headers: { "content-type": "text/event-stream" },
  body: `data: ${JSON.stringify(data)}\n\n`,
});
const answer = (status: number, body: object): Scripted => ({ status, body: JSON.stringify(body) });

/** A refusal that holds nothing against a key, so that each arrival meets the same gateway. */
const ARRIVALS: readonly (readonly [string, TargetName, boolean, Scripted])[] = [
  ["429", "chat", false, answer(429, openai("rate_limit_exceeded", "tokens"))],
  ["413", "chat", true, answer(413, openai("rate_limit_exceeded", "tokens"))],
  ["200", "chat", false, answer(200, openai("rate_limit_exceeded", "tokens"))],
  ["an event of chat", "chat", true, event(openai("rate_limit_exceeded", "tokens"))],
  [
    "response.failed",
    "responses",
    true,
    event({
      type: "response.failed",
      response: { id: "resp_1", status: "failed", error: { code: "rate_limit_exceeded", message: TIER } },
    }),
  ],
  [
    "LiteLLM's envelope",
    "chat",
    false,
    answer(429, {
      error: {
        message: `litellm.RateLimitError: OpenAIException - ${TIER}`,
        type: "throttling_error",
        code: "429",
      },
    }),
  ],
  [
    "OpenRouter's envelope",
    "chat",
    false,
    answer(429, { error: { message: "Provider returned error", code: 429, metadata: { raw } } }),
  ],
];

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

test.each(ARRIVALS)("too large for the tier: %s", async (_, target, stream, scripted) => {
  for (const client of ALL_CLIENTS) {
    field.up.script(scripted);
    const got = await field.send(client, target, ASKING[client], { stream });
    const error: Json = CLIENTS[client].errorOf(got.json);
    expect([client, got.status, got.headers.get("x-should-retry")], got.text).toEqual([client, 429, "false"]);
    expect(error.message).toContain("Request too large for gpt-4o");
  }
});
