/**
 * Texts of white space alone, which some upstreams refuse wherever they stand: they say nothing, and are left out. What is left
 * must still be a conversation, so a user's turn that said nothing else stays as one.
 */
import type { CacheMark, NeutralMessage, Part, TextPart, ToolResultPart } from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";

type Drop = (at: string) => void;

/**
 * The text that an upstream is told where it requires one and the caller said none. A user's turn of white space becomes this text: if
 * the turn were left out, the upstream would take the model's last words for the beginning of its answer.
 */
export const NOTHING_SAID = "(empty)";

/** Whether an upstream that refuses blank text would refuse the part, or a part within it. */
export function hasBlank(part: Part, source: Source): boolean {
  switch (part.type) {
    case "text":
    case "refusal":
      return source.isBlank(part.text);
    case "document":
      return part.source.kind === "text" && source.isBlank(part.source.text);
    case "tool_result":
      return part.parts.some((inner) => hasBlank(inner, source));
    default:
      return false;
  }
}

/** @param drop named are a document without text, and a turn that stands for white space */
export function withoutBlank(
  messages: readonly NeutralMessage[],
  source: Source,
  drop: Drop,
): readonly NeutralMessage[] {
  return withTurns(
    messages.map((message) => filled(message, source, drop)),
    drop,
  );
}

/** Whether a message has no more than empty texts, which are told to no upstream that refuses them. */
export const saysNothing = ({ parts }: NeutralMessage): boolean =>
  parts.every((part) => part.type === "text" && part.text === "" && part.seal === undefined);

/** The conversation in which a turn of the user's that says nothing stays as one. @param drop named are those turns */
export function withTurns(messages: readonly NeutralMessage[], drop: Drop): readonly NeutralMessage[] {
  const isSaid = messages.some((message) => message.role !== "system" && !saysNothing(message));
  const empty = isSaid ? emptyTurns(messages) : [];
  if (empty.length === 0) return messages;
  const told = [...messages];
  for (const index of empty) {
    const message = messages[index] as NeutralMessage;
    drop(message.at);
    told[index] = { ...message, parts: [{ type: "text", text: NOTHING_SAID }] };
  }
  return told;
}

/** The first message of each turn of the user's that says nothing. Neighbours of one role are one turn. */
function emptyTurns(messages: readonly NeutralMessage[]): number[] {
  const empty: number[] = [];
  let first: number | undefined;
  let isUsers = false;
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    if (role === "system") continue;
    if (saysNothing(message)) {
      if (role === "user" && !isUsers) first ??= index;
      continue;
    }
    isUsers = role === "user";
    if (first !== undefined && !isUsers) empty.push(first);
    first = undefined;
  }
  if (first !== undefined) empty.push(first);
  return empty;
}

function filled(message: NeutralMessage, source: Source, drop: Drop): NeutralMessage {
  const { parts, at } = message;
  if (!parts.some((part) => hasBlank(part, source))) return message;
  return { ...message, parts: filledParts(parts, source, () => drop(at)) };
}

/** A mark for the provider's cache that stands on a blank text moves to the part before it, which ends the same prompt. */
function filledParts<P extends Part>(parts: readonly P[], source: Source, drop: () => void): P[] {
  const left: P[] = [];
  for (const part of parts) {
    if (part.type === "tool_result") left.push(filledResult(part, source, drop) as P & ToolResultPart);
    else if (!hasBlank(part, source)) left.push(part);
    else if (part.type === "document") drop();
    else moveMark(part, left);
  }
  return left;
}

const filledResult = (result: ToolResultPart, source: Source, drop: () => void): ToolResultPart =>
  hasBlank(result, source) ? { ...result, parts: filledParts(result.parts, source, drop) } : result;

function moveMark(from: Part, left: Part[]): void {
  const { cache } = from as Partial<TextPart>;
  const last = left.at(-1);
  if (cache === undefined || last === undefined || !takesMark(last)) return;
  left[left.length - 1] = { ...last, cache: last.cache ?? cache };
}

type Marked = Extract<Part, { readonly cache?: CacheMark | undefined }>;

const MARKED: readonly Part["type"][] = ["text", "image", "document", "tool_call", "tool_result"];

const takesMark = (part: Part): part is Marked => MARKED.includes(part.type);

/** The conversation without white space at the end of the model's own words, where it ends with them. */
export function withoutSpaceAtEnd(
  messages: readonly NeutralMessage[],
  source: Source,
  drop: Drop,
): readonly NeutralMessage[] {
  const index = messages.findLastIndex(({ role, parts }) => role !== "system" && parts.some(isTold));
  const last = messages[index];
  if (last?.role !== "assistant") return messages;
  const at = last.parts.findLastIndex(isTold);
  const part = last.parts[at];
  if (part?.type !== "text" && part?.type !== "refusal") return messages;
  const text = source.whole(part.text);
  const trimmed = text.trimEnd();
  if (trimmed === text) return messages;
  drop(last.at);
  return messages.with(index, { ...last, parts: last.parts.with(at, { ...part, text: trimmed }) });
}

/** Whether Claude is told the part: reasoning that it did not seal is left out. */
const isTold = (part: Part): boolean => part.type !== "reasoning" || part.seal?.by === "anthropic";
