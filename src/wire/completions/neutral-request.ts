/**
 * A completions request in neutral terms: its prompt is one user message. What only a model that continues a text can do is refused:
 * left out, the answer would be to another question.
 */
import { fail, type WeirError } from "../../base/errors.ts";
import { biases, field, stops } from "../chat/neutral-options.ts";
import type { ClientRequest } from "../format.ts";
import { numberAt, stringAt, wrong } from "../neutral/fields.ts";
import type { NeutralOptions, NeutralRequest } from "../neutral/neutral.ts";
import { defined } from "../neutral/options.ts";
import type { Source } from "../neutral/source.ts";
import type { CompletionsBody, Prompt } from "./schema.ts";

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
  if (body.suffix) throw noChat("/suffix", "fills a gap before a suffix");
  if (body.max_tokens === 0) throw noChat("/max_tokens", "takes 0 output tokens");
  return {
    stream: request.facts.stream,
    messages: [{ role: "user", parts: [{ type: "text", text: textOf(body.prompt) }], at: "/prompt" }],
    tools: [],
    options: optionsOf(body),
    dropped: Object.keys(body).flatMap((key) =>
      CARRIED.has(key) || body[key] == null || isUsual(key, body) ? [] : [`/${key}`],
    ),
  };
}

/** @throws WeirError 400 where it is not one text */
function textOf(prompt: Prompt): string {
  if (typeof prompt === "string") return prompt;
  const [first] = prompt;
  if (typeof first !== "string") throw noChat("/prompt", "takes a prompt as token ids");
  if (prompt.length > 1) throw noChat("/prompt", "takes several prompts");
  return first;
}

const noChat = (param: string, does: string): WeirError =>
  fail("capability_not_supported", `${param}: only an endpoint of the dialect completions ${does}.`, {
    param,
  });

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
