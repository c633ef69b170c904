/** What the conformance cases are made of: prompts that instruct the simulator, tools, images, texts of odd characters. */
import type { Ask, AskPart, Call, Media, Tool } from "./ask.ts";

/** A text with what the simulator shall do, which it reads from the last thing that the user says. */
export function told(text: string, instruction: Readonly<Record<string, unknown>> = {}): string {
  const pairs = Object.entries(instruction).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? text : `${text} [[sim ${pairs.join(" ")}]]`;
}

export const user = (text: string, instruction?: Readonly<Record<string, unknown>>, ...more: AskPart[]) => ({
  user: [...more, { text: told(text, instruction) }],
});

export const asks = (
  text: string,
  instruction?: Readonly<Record<string, unknown>>,
  more: Partial<Ask> = {},
): Ask => ({
  turns: [user(text, instruction)],
  ...more,
});

/** Base64 of so many bytes, none of them like its neighbours. */
const bytes = (count: number): string =>
  Buffer.from(Uint8Array.from({ length: count }, (_, i) => (i * 31 + (i >> 8)) & 0xff)).toString("base64");

export const png = (count: number): Media => ({ mediaType: "image/png", data: bytes(count) });
export const PDF: Media = { mediaType: "application/pdf", data: bytes(900) };

export const WEATHER: Tool = {
  name: "get_weather",
  description: "The weather at a place.",
  parameters: {
    type: "object",
    properties: {
      city: { type: "string" },
      days: { type: "integer", minimum: 2 },
      "naïve key": { type: "string" },
    },
    required: ["city"],
  },
};
export const TIME: Tool = {
  name: "get_time",
  description: "The time at a place.",
  parameters: { type: "object", properties: { zone: { type: "string", enum: ["Asia/Kolkata", "UTC"] } } },
};
export const PING: Tool = {
  name: "ping",
  description: "Needs nothing.",
  parameters: { type: "object", properties: {} },
};
export const TOOLS = [WEATHER, TIME];

export const CALL: Call = { id: "call_abc123", name: "get_weather", arguments: { city: "Zürich", days: 3 } };
export const SECOND: Call = { id: "call_def456", name: "get_time", arguments: { zone: "UTC" } };

export const REPORT = {
  type: "object",
  properties: {
    title: { type: "string" },
    score: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["title", "score", "tags"],
  additionalProperties: false,
};

/** Characters of 1 to 4 bytes, joined ones, what JSON escapes, and an escape that is none. */
export const ODD_TEXT =
  'Grüße, “quotes” "and" \\ back\\u0041slash / tab\t, 水 🦦 👩‍🚀 e\u0301 \u2028 नि <weir: & end';

/** So many characters and more, all of them odd. */
export const long = (length: number): string =>
  Array.from({ length: Math.ceil(length / ODD_TEXT.length) }, (_, i) => `${i} ${ODD_TEXT}`).join("\n");
