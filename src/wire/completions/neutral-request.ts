/** A completions request in neutral terms: its prompt is what a user says. */
import type { ClientRequest } from "../format.ts";
import type { NeutralOptions, NeutralRequest } from "../neutral.ts";
import type { Source } from "../source.ts";
import type { CompletionsBody } from "./schema.ts";

/** Members that are carried, or are our own matter. All others are dropped and told. */
const CARRIED: ReadonlySet<string> = new Set([
  ...["model", "prompt", "stream", "stream_options", "max_tokens", "n", "temperature", "top_p", "stop"],
  ...["seed", "frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "user", "svc"],
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
  const said = <T>(value: T | null | undefined, at: string) => (value == null ? undefined : { value, at });
  const options = {
    maxTokens: said(body.max_tokens, "/max_tokens"),
    temperature: said(body.temperature, "/temperature"),
    topP: said(body.top_p, "/top_p"),
    stop: said(typeof body.stop === "string" ? [body.stop] : body.stop, "/stop"),
    seed: said(body.seed, "/seed"),
    frequencyPenalty: said(body.frequency_penalty, "/frequency_penalty"),
    presencePenalty: said(body.presence_penalty, "/presence_penalty"),
    logitBias: said(body.logit_bias, "/logit_bias"),
    logprobs: said(body.logprobs == null ? undefined : { top: body.logprobs }, "/logprobs"),
    choices: said(body.n === 1 ? undefined : body.n, "/n"),
    user: said(body.user, "/user"),
  };
  return Object.fromEntries(Object.entries(options).filter(([, option]) => option !== undefined));
}
