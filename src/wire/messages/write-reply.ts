/** Writes a whole answer as a message (Anthropic API reference, "Message"). The format has one choice: the first. */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity, WriteReply } from "../format.ts";
import { jsonTextPlacing } from "../json/json-text.ts";
import type { NeutralChoice, ReplyPart } from "../neutral/neutral.ts";
import { svcJson } from "../svc.ts";
import { blocksOf } from "./reply-blocks.ts";
import { writeStop } from "./stop.ts";
import { writeMessagesUsage } from "./usage.ts";

/** JSON text. */
export const writeMessagesReply: WriteReply = (reply, identity, usage, svc) => {
  const message = jsonTextPlacing(() => messageOf(reply.choices[0] ?? NO_CHOICE, identity, usage));
  return `${message.slice(0, -1)},"svc":${svcJson(svc)}}`;
};

const NO_CHOICE: NeutralChoice = { parts: [], stop: { reason: "other" } };

export function messageOf({ parts, stop }: NeutralChoice, identity: AnswerIdentity, usage: Usage) {
  const has = (type: ReplyPart["type"]) => parts.some((part) => part.type === type);
  return {
    ...messageHead(identity),
    content: blocksOf(parts),
    ...writeStop(stop, has("tool_call"), has("refusal")),
    usage: writeMessagesUsage(usage),
  };
}

/** Members that a whole message and the one in `message_start` share. */
export const messageHead = ({ id, model }: AnswerIdentity) => ({
  id,
  type: "message" as const,
  role: "assistant" as const,
  model,
  container: null,
  diagnostics: null,
});
