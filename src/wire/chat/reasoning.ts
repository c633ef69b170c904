/**
 * Reasoning as a message's `reasoning_details`, both ways (OpenRouter documentation, "Preserving reasoning blocks"): the
 * one member of this format in which a maker's seal comes back byte for byte. Items of one `index` are pieces of one block.
 */
import type { ReasoningPart, Seal, SealMaker } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";

export type ReasoningDetail =
  | {
      readonly type: "reasoning.text";
      readonly text: string;
      readonly signature?: string;
      readonly format?: string;
      readonly index: number;
    }
  | {
      readonly type: "reasoning.summary";
      readonly summary: string;
      readonly format?: string;
      readonly index: number;
    }
  | {
      readonly type: "reasoning.encrypted";
      readonly data: string;
      readonly format: string;
      readonly index: number;
    };

const FORMATS: Readonly<Record<SealMaker, string>> = {
  anthropic: "anthropic-claude-v1",
  google: "google-gemini-v1",
  openai: "openai-responses-v1",
};
const MAKERS = new Map(Object.entries(FORMATS).map(([maker, format]) => [format, maker as SealMaker]));

export const formatOf = (seal: Seal): string => FORMATS[seal.by];

/** Parts as items, each of one number. */
export function detailsOf(parts: readonly ReasoningPart[]): ReasoningDetail[] {
  return parts.flatMap((part, index): ReasoningDetail[] => {
    const { text, seal } = part;
    const format = seal && formatOf(seal);
    const common = format === undefined ? { index } : { format, index };
    if (part.isSummary !== true && part.isRedacted !== true) {
      return [{ type: "reasoning.text", text, ...(seal && { signature: seal.data }), ...common }];
    }
    const shown: ReasoningDetail[] = [];
    if (text !== "") {
      if (part.isSummary === true) shown.push({ type: "reasoning.summary", summary: text, ...common });
      else shown.push({ type: "reasoning.text", text, ...common });
    }
    if (seal !== undefined) {
      shown.push({ type: "reasoning.encrypted", data: seal.data, format: formatOf(seal), index });
    }
    return shown;
  });
}

/** One item, read. */
export interface ReadDetail {
  readonly text: string;
  readonly isSummary: boolean;
  /** The seal contains all of the reasoning. */
  readonly isRedacted: boolean;
  readonly seal: Seal | undefined;
  /** The item's id. OpenRouter gives Google's signatures the id of their tool call. */
  readonly id: string;
  readonly index: number | undefined;
}

/** Undefined if nothing in it can be kept. Strings are passed on unchanged. */
export function readDetail(value: unknown): ReadDetail | undefined {
  const item = objectOf(value);
  const index = typeof item.index === "number" ? item.index : undefined;
  const id = stringOf(item.id);
  switch (item.type) {
    case "reasoning.text": {
      const seal = sealOf(item, item.signature);
      const text = stringOf(item.text);
      if (text === "" && seal === undefined) return undefined;
      return { text, isSummary: false, isRedacted: false, seal, id, index };
    }
    case "reasoning.summary": {
      const text = stringOf(item.summary);
      if (text === "") return undefined;
      return { text, isSummary: true, isRedacted: false, seal: undefined, id, index };
    }
    case "reasoning.encrypted": {
      const seal = sealOf(item, item.data);
      if (seal === undefined) return undefined;
      return { text: "", isSummary: false, isRedacted: true, seal, id, index };
    }
    default:
      return undefined;
  }
}

/** Whether its seal belongs to the tool call of its id, as OpenRouter writes Google's signatures. */
export const isOfCall = ({ isRedacted, seal, id }: ReadDetail): boolean =>
  isRedacted && seal?.by === "google" && id !== "";

/** Undefined if its maker is unknown: it could be sent back to nobody. */
function sealOf({ format }: JsonObject, data: unknown): Seal | undefined {
  if (typeof data !== "string" || data === "") return undefined;
  // The format's documented default.
  const by = format === undefined || format === null ? "anthropic" : MAKERS.get(stringOf(format));
  return by && { by, data };
}

/** A part while items may still add to it. */
interface ReasoningDraft extends Pick<ReadDetail, "index" | "isSummary"> {
  text: string;
  isRedacted: boolean;
  seal: Seal | undefined;
}

/** Whether an item continues a block. Servers that send no numbers send one block. */
export function continues(
  draft: Pick<ReadDetail, "index" | "isSummary" | "seal">,
  { index, isSummary, isRedacted }: ReadDetail,
): boolean {
  if (draft.seal !== undefined) return false;
  if (draft.index !== undefined && index !== undefined && draft.index !== index) return false;
  // OpenAI's summary and the encrypted whole are one item; Anthropic's redacted blocks stand alone.
  return isRedacted ? draft.isSummary : draft.isSummary === isSummary;
}

export interface ReadReasoning {
  readonly parts: ReasoningPart[];
  /** By tool call id. */
  readonly callSeals: ReadonlyMap<string, Seal>;
}

/** The reasoning of a whole message: its details, or the plain text that other servers send. */
export function readReasoning(message: JsonObject): ReadReasoning {
  const drafts: ReasoningDraft[] = [];
  const callSeals = new Map<string, Seal>();
  for (const value of listOf(message.reasoning_details)) {
    const item = readDetail(value);
    if (item === undefined) continue;
    const { seal } = item;
    if (seal !== undefined && isOfCall(item)) {
      callSeals.set(item.id, seal);
      continue;
    }
    const last = drafts.at(-1);
    if (last !== undefined && continues(last, item)) {
      last.text += item.text;
      last.seal = seal;
      last.isRedacted = item.isRedacted;
    } else {
      const { text, index, isSummary, isRedacted } = item;
      drafts.push({ text, index, isSummary, isRedacted, seal });
    }
  }
  const text = reasoningText(message);
  if (text !== "" && !drafts.some((draft) => draft.text !== "")) {
    // The details have only the seals: the first signature belongs to the text.
    const signed = drafts.find((draft) => !draft.isRedacted);
    if (signed !== undefined) signed.text = text;
    else drafts.unshift({ text, index: undefined, isSummary: false, isRedacted: false, seal: undefined });
  }
  return { parts: drafts.map(partOf), callSeals };
}

const partOf = ({ text, isSummary, isRedacted, seal }: ReasoningDraft): ReasoningPart => ({
  type: "reasoning",
  text,
  ...(isSummary && { isSummary }),
  ...(isRedacted && { isRedacted }),
  ...(seal && { seal }),
});

/** The member of DeepSeek and most servers, then OpenRouter's. Some servers send both with the same text. */
export const reasoningText = (message: JsonObject): string =>
  stringOf(message.reasoning_content) || stringOf(message.reasoning);

/** Mistral's content part of type `thinking`: text parts within. */
export const thinkingText = (part: JsonObject): string =>
  typeof part.thinking === "string"
    ? part.thinking
    : listOf(part.thinking)
        .map((inner) => (isObject(inner) ? stringOf(inner.text) : ""))
        .join("");

/** `extra_content` of a message or a tool call: Google's compatible endpoint puts its signatures there. */
export function readExtraSeal(extra: unknown): Seal | undefined {
  const data = objectOf(objectOf(extra).google).thought_signature;
  return typeof data === "string" && data !== "" ? { by: "google", data } : undefined;
}

export const extraContentOf = (seal: Seal | undefined) =>
  seal?.by === "google" ? { extra_content: { google: { thought_signature: seal.data } } } : undefined;
