/** The whole native answer. */
import { type Usage, usageWire } from "../../base/usage.ts";
import type { WriteReply } from "../format.ts";
import { nativeMedia } from "../media/made.ts";
import type { SvcReply } from "../neutral/contract.ts";
import type { MediaReplyPart, NeutralChoice, ReplyPart } from "../neutral/neutral.ts";

/** The answer's JSON text. */
export const writeGenerateReply: WriteReply = (reply, identity, usage, svc) => {
  const candidates = reply.choices.map(candidateOf);
  return JSON.stringify({ id: identity.id, model: identity.model, candidates, ...closing(usage, svc) });
};

const candidateOf = ({ parts, stop, logprobs }: NeutralChoice, index: number) => ({
  index,
  content: parts.map(partOf),
  stop,
  ...(logprobs !== undefined && { logprobs }),
});

export const takesMedia = ({ source }: MediaReplyPart): boolean =>
  source !== undefined && source.kind !== "file";

function partOf(part: ReplyPart): object {
  if (part.type === "media") return nativeMedia(part);
  if (part.type !== "reasoning") return part;
  const { isSummary, isRedacted, ...rest } = part;
  return { ...rest, ...(isSummary && { summary: true }), ...(isRedacted && { redacted: true }) };
}

/** What an answer ends with, whole or streamed. */
export const closing = (usage: Usage, { provider, endpoint_id, cost, warnings }: SvcReply) => ({
  usage: usageWire(usage),
  cost,
  provider_meta: { provider, endpoint_id },
  warnings,
});
