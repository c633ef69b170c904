/**
 * A completions request in neutral terms: its prompt is one user message. What only a model that continues a text can do is refused:
 * left out, the answer would be to another question.
 */
import { fail } from "../../base/errors.ts";
import { biases, field, stops } from "../chat/neutral-options.ts";
import type { ClientRequest } from "../format.ts";
import { numberAt, stringAt, wrong } from "../neutral/fields.ts";
import type { NeutralOptions, NeutralRequest } from "../neutral/neutral.ts";
import { defined } from "../neutral/options.ts";
import type { Source } from "../neutral/source.ts";
import type { CompletionsBody } from "./schema.ts";

/** Members that are carried, or concern only the gateway. All others are dropped and named. */
const CARRIED: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "suffix",
  "stream",
  "stream_options",
  "max_tokens",
  "n",
  "temperature",
  "top_p",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "logit_bias",
  "logprobs",
  "user",
  "svc",
]);

/** @throws WeirError 400 naming what no chat can do */
export function completionsNeutral(request: ClientRequest, source: Source): NeutralRequest {
  const body = source.value as CompletionsBody;
  const beyond = beyondChat(body);
  if (beyond !== undefined) {
    const { at: param, does } = beyond;
    const message = `${param}: only an endpoint of the dialect completions ${does}.`;
    throw fail("capability_not_supported", message, { param });
  }
  const [prompt = ""] = [body.prompt].flat() as string[];
  return {
    stream: request.facts.stream,
    messages: [{ role: "user", parts: [{ type: "text", text: prompt }], at: "/prompt" }],
    tools: [],
    options: optionsOf(body),
    dropped: Object.keys(body).flatMap((key) =>
      CARRIED.has(key) || body[key] == null || isUsual(key, body) ? [] : [`/${key}`],
    ),
  };
}

/** The first thing that is asked for and that no chat can do, by its JSON pointer; undefined where there is none. */
export function beyondChat({
  prompt,
  suffix,
  max_tokens: maxTokens,
}: CompletionsBody): { readonly at: string; readonly does: string } | undefined {
  if (suffix) return { at: "/suffix", does: "fills a gap before a suffix" };
  if (maxTokens === 0) return { at: "/max_tokens", does: "takes 0 output tokens" };
  if (typeof prompt === "string") return undefined;
  if (typeof prompt[0] !== "string") return { at: "/prompt", does: "takes a prompt as token ids" };
  return prompt.length > 1 ? { at: "/prompt", does: "takes several prompts" } : undefined;
}

/** Whether the member asks for nothing beyond the usual. */
const isUsual = (key: string, { echo, best_of: made, n }: CompletionsBody): boolean =>
  (key === "echo" && echo === false) || (key === "best_of" && made === (n ?? 1));

function optionsOf(body: CompletionsBody): NeutralOptions {
  return defined({
    maxTokens: field(body, "max_tokens", numberAt),
    temperature: field(body, "temperature", numberAt),
    topP: field(body, "top_p", numberAt),
    stop: field(body, "stop", stops),
    seed: field(body, "seed", integerAt),
    frequencyPenalty: field(body, "frequency_penalty", numberAt),
    presencePenalty: field(body, "presence_penalty", numberAt),
    logitBias: field(body, "logit_bias", biases),
    logprobs: field(body, "logprobs", alternatives),
    choices: field(body, "n", (value, at) => (value === 1 ? undefined : numberAt(value, at))),
    user: field(body, "user", stringAt),
  });
}

function integerAt(value: unknown, at: string): number {
  if (!Number.isSafeInteger(value)) throw wrong(at, "an integer");
  return value as number;
}

const MOST_ALTERNATIVES = 20;

function alternatives(value: unknown, at: string): { readonly top: number } {
  const top = integerAt(value, at);
  if (top < 0 || top > MOST_ALTERNATIVES) throw wrong(at, `an integer from 0 to ${MOST_ALTERNATIVES}`);
  return { top };
}
