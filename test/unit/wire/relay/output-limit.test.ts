/** C14: the output limit that the gateway sends instead of the client's, in bodies that pass as bytes: only that member changes. */
import { describe, expect, test } from "vitest";
import type { Endpoint, ProviderQuirks } from "../../../../src/base/endpoint.ts";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { endpoint, provider } from "../../../support/routing/fixtures.ts";

const LIMIT = 50;
const MESSAGES = '"messages":[{"role":"user","content":"Hello"}]';

/** The body as it is sent, for `model` written `m`. */
function sent(
  name: "chat" | "messages" | "responses",
  text: string,
  quirks: Partial<ProviderQuirks> = {},
): string {
  const format = FORMATS[name];
  const own = provider("p");
  const at: Endpoint = endpoint("m", { provider: { ...own, quirks: { ...own.quirks, ...quirks } } });
  const request = { ...format.read(Buffer.from(text)), outputLimit: LIMIT };
  const body = Buffer.concat(format.splice?.passage.write(request, at).parts ?? []).toString();
  expect(() => JSON.parse(body)).not.toThrow();
  return body;
}

const NEWER = { maxTokensField: "max_completion_tokens" } as const;
const OLDER = { maxTokensField: "max_tokens" } as const;

describe("in chat", () => {
  test.each<[string, string, string, Partial<ProviderQuirks>]>([
    [
      "a larger one",
      `{"model":"m", "max_tokens" : 900 ,${MESSAGES}}`,
      `{"model":"m", "max_tokens" : 50 ,${MESSAGES}}`,
      {},
    ],
    [
      "a smaller one stays",
      `{"model":"m","max_tokens":9,${MESSAGES}}`,
      `{"model":"m","max_tokens":9,${MESSAGES}}`,
      {},
    ],
    ["none", `{"model":"m",${MESSAGES}}`, `{"max_tokens":50,"model":"m",${MESSAGES}}`, {}],
    [
      "none, of which one is null",
      `{"max_tokens":null,"model":"m",${MESSAGES}}`,
      `{"max_tokens":50,"model":"m",${MESSAGES}}`,
      {},
    ],
    [
      "none, behind our own member",
      `{"svc":{},"model":"m",${MESSAGES}}`,
      `{"max_tokens":50,"model":"m",${MESSAGES}}`,
      {},
    ],
    [
      "none, in a stream that is asked for its usage",
      `{"model":"m","stream":true,${MESSAGES}}`,
      `{"max_tokens":50,"stream_options":{"include_usage":true},"model":"m","stream":true,${MESSAGES}}`,
      {},
    ],
    [
      "none, for a provider with the newer name",
      `{"model":"m",${MESSAGES}}`,
      `{"max_completion_tokens":50,"model":"m",${MESSAGES}}`,
      NEWER,
    ],
    [
      "the older name, for a provider with the newer one",
      `{"model":"m","max_tokens":900,${MESSAGES}}`,
      `{"model":"m","max_completion_tokens":50,${MESSAGES}}`,
      NEWER,
    ],
    [
      "both names, for a provider with the older one",
      `{"model":"m","max_tokens":900,"max_completion_tokens":700,${MESSAGES}}`,
      `{"model":"m","max_tokens":50,${MESSAGES}}`,
      OLDER,
    ],
    [
      "both names, for a provider that takes either",
      `{"model":"m","max_tokens":900,"max_completion_tokens":7,${MESSAGES}}`,
      `{"model":"m","max_tokens":50,"max_completion_tokens":7,${MESSAGES}}`,
      {},
    ],
  ])("%s", (_, text, expected, quirks) => {
    const seen = sent("chat", text, quirks);
    expect(JSON.parse(seen)).toEqual(JSON.parse(expected));
    // No member stands twice.
    expect(seen.match(/"max_(?:completion_)?tokens"/g)?.length).toBe(
      expected.match(/"max_(?:completion_)?tokens"/g)?.length,
    );
  });
});

test("in messages", () => {
  const text = `{"model":"m","max_tokens":900,${MESSAGES},"svc":{}}`;
  expect(sent("messages", text)).toBe(`{"model":"m","max_tokens":50,${MESSAGES}}`);
});

test.each([
  [
    "set",
    '{"model":"m","max_output_tokens":900,"input":"Hello"}',
    '{"model":"m","max_output_tokens":50,"input":"Hello"}',
  ],
  [
    "null",
    '{"model":"m","max_output_tokens":null,"input":"Hello"}',
    '{"model":"m","max_output_tokens":50,"input":"Hello"}',
  ],
  ["absent", '{"model":"m","input":"Hello"}', '{"max_output_tokens":50,"model":"m","input":"Hello"}'],
])("in responses: %s", (_, text, expected) => {
  expect(sent("responses", text)).toBe(expected);
});

test("without a limit of the gateway's the client's stands, whatever it is", () => {
  const text = `{"model":"m","max_tokens":900,${MESSAGES}}`;
  const request = FORMATS.chat.read(Buffer.from(text));
  const { parts } = FORMATS.chat.splice?.passage.write(request, endpoint("m")) ?? { parts: [] };
  expect(Buffer.concat(parts).toString()).toBe(text);
});
