/**
 * The whole completions answer as OpenAI sends it. It has text and nothing else: reasoning and tool calls
 * have no place in it.
 */
import type { Usage } from "../../base/usage.ts";
import { writeChatUsage } from "../chat/usage.ts";
import type { AnswerIdentity, WriteReply } from "../format.ts";
import type { Logprob, NeutralChoice, NeutralReply } from "../neutral/neutral.ts";
import { writeFinishReason } from "./stop.ts";

/** The answer's JSON text. */
export const writeCompletionsReply: WriteReply = (reply, identity, usage, svc) =>
  JSON.stringify({ ...completionBody(reply, identity, usage), svc });

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
  finish_reason: writeFinishReason(stop),
});

/** The older form of log probabilities. @param offset characters of text before the first token */
export function logprobsOf(logprobs: readonly Logprob[], offset: number) {
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
