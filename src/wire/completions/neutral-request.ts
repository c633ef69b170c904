/** A completions request in neutral terms: its prompt is one user message. */
import type { ClientRequest } from "../format.ts";
import type { NeutralOptions, NeutralRequest } from "../neutral/neutral.ts";
import { defined } from "../neutral/options.ts";
import type { Source } from "../neutral/source.ts";
import type { CompletionsBody } from "./schema.ts";

/** Members that are carried, or concern only the gateway. All others are dropped and named. */
const CARRIED: ReadonlySet<string> = new Set([
  "model",
  "prompt",
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

export function completionsNeutral(request: ClientRequest, source: Source): NeutralRequest {
  const body = source.value as CompletionsBody;
  const prompt = typeof body.prompt === "string" ? body.prompt : (body.prompt[0] ?? "");
  return {
    stream: request.facts.stream,
    messages: [{ role: "user", parts: [{ type: "text", text: prompt }], at: "/prompt" }],
    tools: [],
    options: optionsOf(body),
    dropped: Object.keys(body).flatMap((key) => (CARRIED.has(key) || body[key] == null ? [] : [`/${key}`])),
  };
}

function optionsOf(body: CompletionsBody): NeutralOptions {
  const option = <T>(value: T | null | undefined, at: string) => (value == null ? undefined : { value, at });
  return defined({
    maxTokens: option(body.max_tokens, "/max_tokens"),
    temperature: option(body.temperature, "/temperature"),
    topP: option(body.top_p, "/top_p"),
    stop: option(typeof body.stop === "string" ? [body.stop] : body.stop, "/stop"),
    seed: option(body.seed, "/seed"),
    frequencyPenalty: option(body.frequency_penalty, "/frequency_penalty"),
    presencePenalty: option(body.presence_penalty, "/presence_penalty"),
    logitBias: option(body.logit_bias, "/logit_bias"),
    logprobs: option(body.logprobs == null ? undefined : { top: body.logprobs }, "/logprobs"),
    choices: option(body.n === 1 ? undefined : body.n, "/n"),
    user: option(body.user, "/user"),
  });
}
