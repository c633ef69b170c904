/** Recorded-shape streams of Google's models with what they amount to, and what requests to them are made of. */
import { readdirSync, readFileSync } from "node:fs";
import type { Endpoint } from "../../../src/base/endpoint.ts";
import type { Usage } from "../../../src/base/usage.ts";
import type {
  NeutralMessage,
  NeutralOptions,
  NeutralReply,
  NeutralRequest,
  Part,
} from "../../../src/wire/neutral/neutral.ts";
import { usage } from "../../support/wire/fixtures.ts";

const DIRECTORY = new URL("../../fixtures/gemini/", import.meta.url);

export const NAMES: readonly string[] = readdirSync(DIRECTORY)
  .filter((file) => file.endsWith(".sse"))
  .map((file) => file.slice(0, -".sse".length));

/** As the relay hands it over: one character a byte. */
export const latin1Of = (name: string): string =>
  readFileSync(new URL(`${name}.sse`, DIRECTORY)).toString("latin1");

const one = (
  used: Usage,
  reason: NeutralReply["choices"][number]["stop"]["reason"],
  ...parts: NeutralReply["choices"][number]["parts"]
): NeutralReply => ({
  choices: [{ parts, stop: { reason } }],
  usage: used,
});

const token = (text: string, logprob: number) => ({ token: text, logprob, bytes: [...Buffer.from(text)] });

const SOURCES = [
  { type: "url", url: "https://uefa.example/1", title: "uefa.example", citedText: "Spain won Euro 2024." },
  { type: "url", url: "https://aj.example/2", title: "aj", citedText: "Spain won Euro 2024." },
] as const;

export const ANSWERS: Readonly<Record<string, NeutralReply>> = {
  text: one(usage(9, 11), "stop", { type: "text", text: 'Grüß Gott, 世界 🎉\n"ok" \\ </script>' }),
  "thinking-tools": one(
    usage(72, 91, { reasoningTokens: 55 }),
    "tool_calls",
    { type: "reasoning", text: "**Plan**\n\nTwo cities.\n" },
    { type: "text", text: "Checking both." },
    {
      type: "tool_call",
      id: "",
      name: "get_weather",
      arguments: '{"city": "Köln", "days": 2}',
      seal: { by: "google", data: "EvwBCvkBAXLI2nyW+/a==" },
    },
    {
      type: "tool_call",
      id: "",
      name: "get_weather",
      arguments: '{"city": "Bonn", "days": 2}',
    },
  ),
  "signed-text": one(
    usage(10, 14, { reasoningTokens: 12, cacheReadTokens: 8 }),
    "stop",
    { type: "reasoning", text: "I should greet." },
    { type: "text", text: "Hello.", seal: { by: "google", data: "Ep4CCpsCAb4=" } },
  ),
  "two-candidates": {
    choices: [
      { parts: [{ type: "text", text: "AB" }], stop: { reason: "stop" } },
      { parts: [{ type: "text", text: "xyz" }], stop: { reason: "length" } },
    ],
    usage: usage(5, 5),
  },
  logprobs: {
    choices: [
      {
        parts: [{ type: "text", text: "Ja!" }],
        stop: { reason: "stop" },
        logprobs: [
          { ...token("Ja", -0.1), top_logprobs: [token("Ja", -0.1), token("Né", -2.5)] },
          { ...token("!", -0.3), top_logprobs: [token("!", -0.3)] },
        ],
      },
    ],
    usage: usage(8, 2),
  },
  grounded: one(usage(42, 9), "stop", { type: "text", text: "Spain won Euro 2024.", citations: SOURCES }),
  safety: one(usage(6, 1), "content_filter", { type: "text", text: "Well" }),
  blocked: one(usage(14, 0), "content_filter"),
  odd: one(
    usage(3, 2),
    "stop",
    { type: "text", text: "Spät €" },
    { type: "media", kind: "image", source: { kind: "data", mediaType: "image/png", data: "AA==" } },
  ),
};

export const endpointOf = (upstreamModel: string, cache = true): Endpoint =>
  ({ upstreamModel, maxOutput: 64_000, capabilities: { cache, reasoning: true } }) as Endpoint;

export const said = <T>(value: T, at = "/option"): { value: T; at: string } => ({ value, at });

export const message = (role: NeutralMessage["role"], at: string, ...parts: Part[]): NeutralMessage => ({
  role,
  parts,
  at,
});

export const requestOf = (
  messages: readonly NeutralMessage[],
  options: NeutralOptions = {},
  more: Partial<NeutralRequest> = {},
): NeutralRequest => ({ stream: false, messages, tools: [], options, dropped: [], ...more });

export const hello = message("user", "/messages/0", { type: "text", text: "Hello" });
