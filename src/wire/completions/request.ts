/** Reads a completions request, for the exchange and in neutral terms: its prompt is what a user says. */
import { type BodyRules, promptTextsOf, readBody, SVC_MEMBER } from "../body.ts";
import { estimatePromptTokens } from "../estimate.ts";
import type { ClientRequest, PromptText } from "../format.ts";
import type { NeutralOptions, NeutralRequest } from "../neutral.ts";
import type { Source } from "../source.ts";
import { type CompletionsBody, completionsRequestSchema } from "./schema.ts";

export interface CompletionsRequest extends ClientRequest {
  /** False: the client asked for no usage in its stream. */
  readonly includeUsage: boolean;
}

/** Members that no model gets to read. */
const NO_PROMPT: readonly string[] = ["model", "svc", "stream", "stream_options", "user", "logit_bias"];

const RULES: BodyRules<CompletionsBody> = {
  ...SVC_MEMBER,
  schema: completionsRequestSchema,
  noPrompt: NO_PROMPT,
  media: [],
};

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readCompletionsRequest(bytes: Buffer): CompletionsRequest {
  const { text: _, value, proseBytes, ...read } = readBody(bytes, RULES);
  return {
    ...read,
    includeUsage: value.stream_options?.include_usage !== false,
    facts: {
      model: value.model,
      stream: value.stream ?? false,
      choices: value.n ?? 1,
      maxTokens: value.max_tokens ?? undefined,
      promptTokens: estimatePromptTokens(proseBytes, 0),
      hasTools: false,
      parallelTools: false,
      hasImages: false,
      imageCount: 0,
      hasAudio: false,
      hasSchema: false,
      hasUncounted: false,
      searchUnits: 0,
    },
  };
}

/** See {@link promptTextsOf}. */
export const promptTexts = (request: ClientRequest): PromptText[] => promptTextsOf(request, NO_PROMPT);

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
