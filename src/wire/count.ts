/**
 * Counting the tokens of a prompt: what a provider's own endpoint for it is asked and answers, and what a public tokenizer
 * must read where there is one.
 */
import type { Dialect, Endpoint } from "../base/endpoint.ts";
import { GENERATION_DIALECTS } from "./dialects.ts";
import type { ClientFormat, ClientRequest, OrgKey, PromptText } from "./format.ts";
import { jsonTextOf } from "./json/json-text.ts";
import type { Part } from "./neutral/neutral.ts";
import { countOf, isObject, type JsonObject, objectOf } from "./neutral/reader.ts";
import { bytesOf } from "./neutral/source.ts";
import { quotingNoMarks, sourceOf, toldOf } from "./relay/translate.ts";

interface CountDialect {
  /** What the question takes of a generation's body. */
  question(body: JsonObject, endpoint: Endpoint): unknown;
  answer(value: JsonObject): number;
}

const only = (body: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));

/** Sources: the providers' API references, "Count tokens". */
const COUNTING: Partial<Readonly<Record<Dialect, CountDialect>>> = {
  messages: {
    question: (body) =>
      only(body, ["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"]),
    answer: ({ input_tokens: tokens }) => countOf(tokens),
  },
  responses: {
    question: (body) =>
      only(body, ["model", "input", "instructions", "tools", "tool_choice", "text", "reasoning"]),
    answer: ({ input_tokens: tokens }) => countOf(tokens),
  },
  gemini: {
    question: (body, { upstreamModel }) => ({
      generateContentRequest: {
        model: `models/${upstreamModel}`,
        ...only(body, ["contents", "systemInstruction", "tools", "toolConfig"]),
      },
    }),
    answer: ({ totalTokens }) => countOf(totalTokens),
  },
  converse: {
    question: (body) => ({ input: { converse: only(body, ["messages", "system", "toolConfig"]) } }),
    answer: ({ inputTokens }) => countOf(inputTokens),
  },
};

export const countingDialects = Object.keys(COUNTING) as readonly Dialect[];

/** The question's body; undefined where the dialect has none or the request cannot be told in it. */
export function countQuestion(
  format: ClientFormat,
  dialect: Dialect,
  request: ClientRequest,
  endpoint: Endpoint,
  orgKey: OrgKey,
): Uint8Array[] | undefined {
  const upstream = GENERATION_DIALECTS.get(dialect);
  const counting = COUNTING[dialect];
  if (upstream === undefined || counting === undefined || format.generation === undefined) return undefined;
  const { generation } = format;
  const source = sourceOf(generation, request);
  const { body } = quotingNoMarks(() =>
    upstream.writeRequest(toldOf(generation, request, upstream, endpoint, orgKey, source).request, endpoint),
  );
  const question = counting.question(objectOf(body), endpoint);
  return bytesOf(request.bytes, source.piecesOf(question));
}

/** Undefined where the answer is none. */
export function countAnswer(dialect: Dialect, body: Buffer): number | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    const tokens = isObject(value) ? COUNTING[dialect]?.answer(value) : undefined;
    return tokens === 0 ? undefined : tokens;
  } catch {
    return undefined;
  }
}

/** What a tokenizer reads of a prompt. */
export interface Countable {
  readonly texts: readonly PromptText[];
  /** Tokens of the framing that no text shows. */
  readonly framingTokens: number;
  /** The texts and the framing are all there is: no tools, no media, no schema. */
  readonly isAll: boolean;
}

/**
 * OpenAI's cookbook, "How to count tokens with tiktoken": each message is framed by three tokens, the answer begins with
 * three.
 */
const FRAME_TOKENS = 3;

export function countable(format: ClientFormat, request: ClientRequest): Countable {
  const { generation } = format;
  if (generation === undefined) return { texts: format.promptTexts(request), framingTokens: 0, isAll: false };
  const source = sourceOf(generation, request);
  const neutral = quotingNoMarks(() => generation.neutral(request, source));
  const texts: string[] = [];
  let isAll = neutral.tools.length === 0 && neutral.options.format === undefined;
  for (const { role, parts } of neutral.messages) {
    texts.push(role);
    for (const part of parts) {
      const text = textOfPart(part);
      if (part.type !== "text") isAll = false;
      texts.push(source.whole(text));
    }
  }
  if (neutral.tools.length > 0) texts.push(jsonTextOf(source.wholeValue(neutral.tools)));
  return { texts, framingTokens: FRAME_TOKENS * (neutral.messages.length + 1), isAll };
}

function textOfPart(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return part.text;
    case "tool_call":
      return part.name + part.arguments;
    case "tool_result":
      return part.parts.map(textOfPart).join("");
    case "document":
      return part.source.kind === "text" ? part.source.text : "";
    default:
      return "";
  }
}
