/** Parts of an answer as content blocks of a message, as answers hold them (Anthropic API reference, "Message"). */
import type { Citation, ReasoningPart, ReplyPart, Seal } from "../neutral.ts";
import { isObject } from "../reader.ts";
import { writeCitation } from "./citations.ts";
import { sealText, UNSIGNED } from "./seals.ts";

export const textBlock = (text: string, citations: readonly Citation[] = []) => ({
  type: "text" as const,
  text,
  citations: citations.length === 0 ? null : citations.map(writeCitation),
});

export const thinkingBlock = (thinking: string, seal: Seal | undefined) => ({
  type: "thinking" as const,
  thinking,
  signature: seal === undefined ? UNSIGNED : sealText(seal),
});

/** How a thinking block begins in a stream: its signature comes last. */
export const openThinking = () => ({ type: "thinking" as const, thinking: "", signature: "" });

export const redactedBlock = (seal: Seal) => ({ type: "redacted_thinking" as const, data: sealText(seal) });

export const toolUseBlock = (id: string, name: string, input: unknown) => ({
  type: "tool_use" as const,
  id,
  name,
  input,
  caller: { type: "direct" as const },
});

/** The blocks of one part; a seal that is no thinking's own stands in an empty thinking block beside it. */
export function blocksOf(part: ReplyPart) {
  switch (part.type) {
    case "text": {
      const text = part.text === "" ? [] : [textBlock(part.text, part.citations)];
      return part.seal === undefined ? text : [...text, thinkingBlock("", part.seal)];
    }
    case "refusal":
      return part.text === "" ? [] : [textBlock(part.text)];
    case "reasoning":
      return reasoningBlocks(part);
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

/** A model's broken arguments go on as they are, so that whoever runs the tool sees what is wrong with them. */
function inputOf(json: string): unknown {
  try {
    const input: unknown = JSON.parse(json);
    return isObject(input) ? input : json;
  } catch {
    return json === "" ? {} : json;
  }
}
