/**
 * Neutral messages as input items. System messages stay items in their place: this keeps their order, and the cached
 * beginning of a growing prompt. Cache marks are left out: the API caches every prefix by itself.
 */

import { fileName } from "../media/file-names.ts";
import type {
  DocumentPart,
  ImagePart,
  MediaSource,
  NeutralMessage,
  Part,
  ReasoningPart,
  Seal,
  ToolCallPart,
  ToolResultPart,
} from "../neutral/neutral.ts";
import { notCarried, refuseStores } from "../neutral/not-carried.ts";
import type { OptionTaker } from "../neutral/options.ts";
import type { CallItem } from "./calls.ts";
import type { ReasoningItem, Refusal } from "./objects.ts";
import { itemOfSeal } from "./seals.ts";

interface InputText {
  type: "input_text";
  text: string;
}

interface InputImage {
  type: "input_image";
  detail: "low" | "high" | "auto" | "original";
  image_url?: string;
  file_id?: string;
}

interface InputFile {
  type: "input_file";
  file_data?: string;
  file_url?: string;
  file_id?: string;
  filename?: string;
}

type InputContent = InputText | InputImage | InputFile;

/** A message of an earlier answer: the API accepts it without its id. */
interface SaidText {
  type: "output_text";
  text: string;
  annotations: [];
}

interface InputMessage {
  type: "message";
  role: "user" | "system";
  content: InputContent[];
}

interface OutputMessage {
  type: "message";
  role: "assistant";
  content: (SaidText | Refusal)[];
}

type FunctionCall = Omit<CallItem, "id" | "status">;

interface CustomCall {
  type: "custom_tool_call";
  call_id: string;
  name: string;
  input: string;
}

interface FunctionCallOutput {
  type: "function_call_output" | "custom_tool_call_output";
  call_id: string;
  output: string | InputContent[];
}

type Reasoning = Required<Omit<ReasoningItem, "content">>;

export type InputItem =
  | InputMessage
  | OutputMessage
  | FunctionCall
  | CustomCall
  | FunctionCallOutput
  | Reasoning;

/** @param options gets what has no place in an item. @throws WeirError 400 naming media that have none */
export function writeMessages(messages: readonly NeutralMessage[], options: OptionTaker): InputItem[] {
  const items: InputItem[] = [];
  for (const message of messages) {
    if (message.role === "assistant") turnItems(message, items, options);
    else promptItems(message, message.role, items, options);
  }
  return items;
}

function promptItems(
  { parts, at }: NeutralMessage,
  role: "user" | "system",
  items: InputItem[],
  options: OptionTaker,
): void {
  let content: InputContent[] | undefined;
  for (const part of parts) {
    if (part.type === "tool_result") {
      items.push(resultItem(part, at, options));
      content = undefined;
      continue;
    }
    const written = contentOf(part, at, options);
    if (written === undefined) continue;
    if (content === undefined) {
      content = [];
      items.push({ type: "message", role, content });
    }
    content.push(written);
  }
}

function contentOf(part: Part, at: string, options: OptionTaker): InputContent | undefined {
  if (part.type === "text") return { type: "input_text", text: part.text };
  if (part.type === "image") return imageOf(part);
  if (part.type === "document") return fileOf(part, at, options);
  if (part.type === "audio" || part.type === "video") throw notCarried(part);
  options.drop(at);
  return undefined;
}

const DETAILS: readonly string[] = ["low", "high", "auto", "original"];

function imageOf(image: ImagePart): InputImage {
  const { source, detail } = image;
  refuseStores(image);
  const known = DETAILS.includes(detail ?? "") ? (detail as InputImage["detail"]) : "auto";
  if (source.kind === "file") return { type: "input_image", detail: known, file_id: source.id };
  return { type: "input_image", detail: known, image_url: urlOf(source) };
}

const urlOf = (source: Exclude<MediaSource, { kind: "file" }>): string =>
  source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;

function fileOf(document: DocumentPart, at: string, options: OptionTaker): InputText | InputFile {
  const { source, name, context, citations } = document;
  refuseStores(document);
  if (context !== undefined || citations === true) options.drop(at);
  // The API takes files only, so a document of text is sent as text.
  if (source.kind === "text") return { type: "input_text", text: source.text };
  if (source.kind === "file") return { type: "input_file", file_id: source.id };
  if (source.kind === "url") return { type: "input_file", file_url: source.url };
  return { type: "input_file", file_data: urlOf(source), filename: fileName(name, source.mediaType) };
}

function resultItem(result: ToolResultPart, at: string, options: OptionTaker): FunctionCallOutput {
  // The API has no member for failed results: the text has to say so.
  if (result.isError) options.drop(at);
  const type = result.kind === "custom" ? "custom_tool_call_output" : "function_call_output";
  return { type, call_id: result.id, output: outputOf(result, at, options) };
}

function outputOf({ parts }: ToolResultPart, at: string, options: OptionTaker): string | InputContent[] {
  const [first] = parts;
  if (first === undefined) return "";
  if (parts.length === 1 && first.type === "text") return first.text;
  return parts.flatMap((part) => contentOf(part, at, options) ?? []);
}

function turnItems({ parts, at }: NeutralMessage, items: InputItem[], options: OptionTaker): void {
  let content: OutputMessage["content"] | undefined;
  /** Reasoning without a seal: the first parts of the reasoning that a later seal contains. */
  let unsealed: ReasoningPart[] = [];
  const forget = () => {
    if (unsealed.length > 0) options.drop(at);
    unsealed = [];
  };
  for (const part of parts) {
    if (part.type === "reasoning") {
      content = undefined;
      if (part.seal === undefined) unsealed.push(part);
      else if (part.seal.by === "openai") {
        items.push(reasoningItem(`rs_${items.length}`, [...unsealed, part], part.seal));
        unsealed = [];
      } else {
        // The API refuses another maker's seal.
        options.drop(at);
        unsealed = [];
      }
      continue;
    }
    forget();
    if (part.type === "tool_call") {
      content = undefined;
      items.push(callItemOf(part));
      continue;
    }
    const written = saidOf(part);
    if (written === undefined) {
      if ("source" in part) throw notCarried(part);
      options.drop(at);
      continue;
    }
    if (content === undefined) {
      content = [];
      items.push({ type: "message", role: "assistant", content });
    }
    content.push(written);
  }
  forget();
  // The API refuses reasoning without the item that followed from it.
  while (items.at(-1)?.type === "reasoning") {
    items.pop();
    options.drop(at);
  }
}

const callItemOf = ({ id, name, kind, arguments: given }: ToolCallPart): FunctionCall | CustomCall =>
  kind === "custom"
    ? { type: "custom_tool_call", call_id: id, name, input: given }
    : { type: "function_call", call_id: id, name, arguments: given };

/** @param usualId the required id if the seal does not contain the original one */
function reasoningItem(usualId: string, parts: readonly ReasoningPart[], seal: Seal): Reasoning {
  const { id, encrypted } = itemOfSeal(seal);
  return {
    type: "reasoning",
    id: id || usualId,
    summary: parts.filter(({ text }) => text !== "").map(({ text }) => ({ type: "summary_text", text })),
    encrypted_content: encrypted,
  };
}

const saidOf = (part: Part): SaidText | Refusal | undefined => {
  if (part.type === "text") return { type: "output_text", text: part.text, annotations: [] };
  return part.type === "refusal" ? { type: "refusal", refusal: part.text } : undefined;
};
