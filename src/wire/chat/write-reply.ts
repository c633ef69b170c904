/** A whole neutral answer as a chat completion (OpenAI API reference, "The chat completion object"). */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity, WriteReply } from "../format.ts";
import type { NeutralChoice, NeutralReply, ReasoningPart, Seal, ToolCallPart } from "../neutral/neutral.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";
import { svcJson } from "../svc.ts";
import { type Annotation, writeCitation } from "./citations.ts";
import { imageOf } from "./media.ts";
import { detailsOf, extraContentOf } from "./reasoning.ts";
import { type FinishReason, writeFinishReason } from "./stop.ts";
import { writeChatUsage } from "./usage.ts";

/** The body as JSON text; it is sent as UTF-8. */
export const writeChatReply: WriteReply = (reply, identity, usage, svc) =>
  `${JSON.stringify(chatReplyBody(reply, identity, usage)).slice(0, -1)},"svc":${svcJson(svc)}}`;

/** The same without our own member. */
export const chatReplyBody = (reply: NeutralReply, identity: AnswerIdentity, usage: Usage) => ({
  id: identity.id,
  object: "chat.completion" as const,
  created: identity.createdS,
  model: identity.model,
  choices: reply.choices.map(choiceOf),
  usage: writeChatUsage(usage),
});

function choiceOf({ parts, stop, logprobs }: NeutralChoice, index: number) {
  const calls = parts.filter((part) => part.type === "tool_call");
  const isRefusal = parts.some((part) => part.type === "refusal");
  const tokens = logprobs === undefined ? null : [...logprobs].map(tokenOf);
  const finish: FinishReason = writeFinishReason(stop, calls.length > 0);
  return {
    index,
    message: messageOf(parts, calls),
    logprobs:
      tokens === null ? null : { content: isRefusal ? null : tokens, refusal: isRefusal ? tokens : null },
    finish_reason: finish,
  };
}

function messageOf(parts: NeutralChoice["parts"], calls: readonly ToolCallPart[]) {
  let content = "";
  let refusal = "";
  let seal: Seal | undefined;
  const reasoning: ReasoningPart[] = [];
  const annotations: Annotation[] = [];
  for (const part of parts) {
    if (part.type === "reasoning") reasoning.push(part);
    else if (part.type === "refusal") refusal += part.text;
    else if (part.type === "text") {
      content += part.text;
      seal = part.seal ?? seal;
      annotations.push(...(part.citations ?? []).flatMap((citation) => writeCitation(citation) ?? []));
    }
  }
  const images = parts.filter((part) => part.type === "media").map(imageOf);
  const thought = reasoning.map((part) => part.text).join("");
  return {
    role: "assistant" as const,
    content: content === "" && (calls.length > 0 || refusal !== "") ? null : content,
    refusal: refusal === "" ? null : refusal,
    ...(thought !== "" && { reasoning_content: thought }),
    ...(reasoning.length > 0 && { reasoning_details: detailsOf(reasoning) }),
    ...(annotations.length > 0 && { annotations }),
    ...(images.length > 0 && { images }),
    ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
    ...extraContentOf(seal),
  };
}

const callOf = (call: ToolCallPart) => ({ id: call.id, ...calledOf(call), ...extraContentOf(call.seal) });

const calledOf = ({ kind, name, arguments: given }: ToolCallPart) =>
  kind === "custom"
    ? { type: "custom" as const, custom: { name, input: given } }
    : { type: "function" as const, function: { name, arguments: argumentsText(given) } };

const tokenOf = ({
  token,
  logprob,
  bytes,
  top_logprobs,
}: NonNullable<NeutralChoice["logprobs"]>[number]) => ({
  token,
  logprob,
  bytes: bytes && [...bytes],
  top_logprobs: top_logprobs.map((top) => ({ ...top, bytes: top.bytes && [...top.bytes] })),
});
