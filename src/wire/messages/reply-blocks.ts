/** Parts of an answer as content blocks of the answer's message (Anthropic API reference, "Message"). */
import type { Citation, ReasoningPart, ReplyPart, Seal } from "../neutral/neutral.ts";
import { argumentsObject } from "../neutral/tool-arguments.ts";
import { writeCitation } from "./citations.ts";
import { sealText, UNSIGNED } from "./seals.ts";

export const textBlock = (text: string, citations: readonly Citation[] = []) => ({
  type: "text" as const,
  text,
  citations: citations.length === 0 ? null : citations.map(writeCitation),
});

const thinkingBlock = (thinking: string, seal: Seal | undefined) => ({
  type: "thinking" as const,
  thinking,
  signature: seal === undefined ? UNSIGNED : sealText(seal),
});

/** A thinking block as it begins in a stream: its signature comes last. */
export const openThinking = () => ({ type: "thinking" as const, thinking: "", signature: "" });

export const redactedBlock = (seal: Seal) => ({ type: "redacted_thinking" as const, data: sealText(seal) });

export const toolUseBlock = (id: string, name: string, input: unknown) => ({
  type: "tool_use" as const,
  id,
  name,
  input,
  caller: { type: "direct" as const },
});

/**
 * The blocks of an answer. The seal of a call is in an empty thinking block before it. The seal of a text is in one after
 * it, but only if another block follows: no message ends with thinking, and clients such as Claude Code take the last block
 * for the answer. (Google requires the signatures of calls; those of texts are optional.)
 */
export function blocksOf(parts: readonly ReplyPart[]) {
  const blocks: ReturnType<typeof ownBlocks>[number][] = [];
  let behind: Seal | undefined;
  for (const part of parts) {
    const own = ownBlocks(part);
    if (own.length > 0 && behind !== undefined) {
      blocks.push(thinkingBlock("", behind));
      behind = undefined;
    }
    blocks.push(...own);
    if (part.type === "text" && part.seal !== undefined) behind = part.seal;
  }
  return blocks;
}

function ownBlocks(part: ReplyPart) {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [textBlock(part.text, part.citations)];
    case "refusal":
      return part.text === "" ? [] : [textBlock(part.text)];
    case "reasoning":
      return reasoningBlocks(part);
    case "media":
      // The format has no place for them, so none come here.
      return [];
    case "tool_call": {
      const call = toolUseBlock(part.id, part.name, inputOf(part.arguments));
      return part.seal === undefined ? [call] : [thinkingBlock("", part.seal), call];
    }
  }
}

function reasoningBlocks({ text, isRedacted, seal }: ReasoningPart) {
  if (isRedacted === true && text === "") return seal === undefined ? [] : [redactedBlock(seal)];
  return text === "" && seal === undefined ? [] : [thinkingBlock(text, seal)];
}

/** An input is an object always. */
export const inputOf = (json: string): unknown => argumentsObject(json).placed;
