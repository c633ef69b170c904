/**
 * The completions answer, whole and streamed, as OpenAI sends it. It has text and nothing else: reasoning and tool calls
 * have no place in it.
 */
import type { Usage } from "../../usage.ts";
import { writeChatUsage } from "../chat/usage.ts";
import type { SvcReply } from "../contract.ts";
import type { AnswerIdentity, StreamWriter } from "../format.ts";
import { latin1OfJson } from "../fragment.ts";
import type { Logprob, NeutralChoice, NeutralReply, StopReason, StreamEvent } from "../neutral.ts";
import { partKey } from "../part-key.ts";
import { sseData } from "../sse.ts";
import { svcJson } from "../svc.ts";

/** The answer's JSON text. */
export function writeCompletionsReply(
  reply: NeutralReply,
  identity: AnswerIdentity,
  usage: Usage,
  svc: SvcReply,
): string {
  return JSON.stringify({ ...completionBody(reply, identity, usage), svc });
}

/** The answer without our extension. */
export const completionBody = (reply: NeutralReply, identity: AnswerIdentity, usage: Usage) => ({
  id: identity.id,
  object: "text_completion" as const,
  created: identity.createdS,
  model: identity.model,
  choices: reply.choices.map(choiceOf),
  usage: writeChatUsage(usage),
});

const choiceOf = ({ parts, stop, logprobs }: NeutralChoice, index: number) => ({
  index,
  text: parts.map((part) => (part.type === "text" || part.type === "refusal" ? part.text : "")).join(""),
  logprobs: logprobs === undefined ? null : logprobsOf(logprobs, 0),
  finish_reason: finishOf(stop.reason),
});

const finishOf = (reason: StopReason): "length" | "content_filter" | "stop" =>
  reason === "length"
    ? "length"
    : reason === "content_filter" || reason === "refusal"
      ? "content_filter"
      : "stop";

/** The older form of log probabilities. @param offset characters of text before the first token */
function logprobsOf(logprobs: readonly Logprob[], offset: number) {
  let at = offset;
  return {
    tokens: logprobs.map(({ token }) => token),
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    top_logprobs: logprobs.map(({ top_logprobs: top }) =>
      Object.fromEntries(top.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: logprobs.map(({ token }) => {
      const start = at;
      at += token.length;
      return start;
    }),
  };
}

export class CompletionsStreamWriter implements StreamWriter {
  readonly #identity: AnswerIdentity;
  readonly #includeUsage: boolean;
  /** Of every chunk up to its choices' bracket. */
  readonly #head: string;
  readonly #usageNull: string;
  /** Parts that are text: their keys. */
  readonly #texts = new Set<number>();
  /** Characters of text so far, by choice: only log probabilities ask. */
  readonly #offsets: number[] = [];
  #last = "";

  constructor(identity: AnswerIdentity, includeUsage: boolean) {
    const { id, createdS, model } = identity;
    this.#identity = identity;
    this.#includeUsage = includeUsage;
    const head = latin1OfJson({ id, object: "text_completion", created: createdS, model });
    this.#head = `data: ${head.slice(0, -1)},"choices":[`;
    this.#usageNull = includeUsage ? ',"usage":null' : "";
  }

  write(event: StreamEvent): string {
    if (event.type === "begin") {
      if (event.kind === "text" || event.kind === "refusal")
        this.#texts.add(partKey(event.choice, event.part));
    } else if (event.type === "delta") {
      if (this.#texts.has(partKey(event.choice, event.part))) return this.#delta(event);
    } else if (event.type === "stop") {
      // Held until the call is settled, as the usage that follows it.
      this.#last += this.#chunk(event.choice, "", "null", `"${finishOf(event.stop.reason)}"`);
    }
    return "";
  }

  close(usage: Usage, svc: SvcReply): string {
    if (!this.#includeUsage) return `${this.#last}data: [DONE]\n\n`;
    const { id, createdS, model } = this.#identity;
    const head = latin1OfJson({ id, object: "text_completion", created: createdS, model, choices: [] });
    const told = `"usage":${JSON.stringify(writeChatUsage(usage))},"svc":${svcJson(svc)}`;
    return `${this.#last}${sseData(`${head.slice(0, -1)},${told}}`)}data: [DONE]\n\n`;
  }

  #delta({ choice, text, logprobs }: Extract<StreamEvent, { type: "delta" }>): string {
    if (logprobs === undefined) return this.#chunk(choice, text, "null", "null");
    const offset = this.#offsets[choice] ?? 0;
    this.#offsets[choice] = offset + logprobs.reduce((sum, { token }) => sum + token.length, 0);
    return this.#chunk(choice, text, latin1OfJson(logprobsOf(logprobs, offset)), "null");
  }

  #chunk(choice: number, text: string, logprobs: string, finish: string): string {
    const body = `{"text":"${text}","index":${choice},"logprobs":${logprobs},"finish_reason":${finish}}`;
    return `${this.#head}${body}]${this.#usageNull}}\n\n`;
  }
}
