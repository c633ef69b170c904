/**
 * The input of a responses request as neutral messages. Its items are flat: those of one turn of the model (reasoning, text,
 * calls) become one message, and so do adjacent results of calls.
 */
import { fail } from "../../base/errors.ts";
import { append } from "../json/append.ts";
import { mediaSource } from "../media/data-url.ts";
import { fileType } from "../media/file-names.ts";
import type {
  DocumentPart,
  ImagePart,
  MediaSource,
  NeutralMessage,
  Part,
  ReasoningPart,
  Seal,
  TextPart,
  ToolCallPart,
  ToolKind,
  ToolResultPart,
} from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";
import { foundTools } from "../tool-kinds/found.ts";
import { OpenCalls } from "../tool-kinds/open-calls.ts";
import { readImageInput } from "./image-item.ts";
import type { ToolReader } from "./neutral-tools.ts";
import { isOfCommands, patchNote, shellText } from "./own-tools.ts";
import { type Sealed, unpackReasoning } from "./seals.ts";

type ContentPart = TextPart | ImagePart | DocumentPart;

interface OpenMessage {
  readonly role: NeutralMessage["role"];
  readonly parts: Part[];
  readonly at: string;
}

/**
 * @param tools gets those that items of the input add
 * @param dropped gets the pointers of what is left out. @throws WeirError 400 naming the field
 */
export function readMessages(
  body: JsonObject,
  source: Source,
  tools: ToolReader,
  dropped: string[],
): NeutralMessage[] {
  const messages = new InputReader(source, tools, dropped);
  const { instructions, input } = body;
  if (typeof instructions === "string") messages.addText("system", instructions, "/instructions");
  else if (instructions != null) throw wrong("/instructions", "a string");
  if (typeof input === "string") messages.addText("user", input, "/input");
  else for (const [index, item] of listOf(input).entries()) messages.take(objectOf(item), `/input/${index}`);
  return messages.done();
}

class InputReader {
  readonly #source: Source;
  readonly #tools: ToolReader;
  readonly #dropped: string[];
  readonly #messages: OpenMessage[] = [];
  /** Names of the tools that are called: results do not have them. */
  readonly #called = new OpenCalls<string>();
  /** Google's signature of the next call: it is in an item of its own before the call. */
  #callSeal: Seal | undefined;

  constructor(source: Source, tools: ToolReader, dropped: string[]) {
    this.#source = source;
    this.#tools = tools;
    this.#dropped = dropped;
  }

  addText(role: NeutralMessage["role"], text: string, at: string): void {
    this.#messages.push({ role, parts: [{ type: "text", text }], at });
  }

  take(item: JsonObject, at: string): void {
    const type = item.type ?? "message";
    if (typeof type !== "string") throw wrong(`${at}/type`, "a string");
    if (type === "message") {
      this.#giveBack();
      this.#message(item, at);
      return;
    }
    const call = Object.hasOwn(CALLS, type) ? CALLS[type] : undefined;
    const result = Object.hasOwn(RESULTS, type) ? RESULTS[type] : undefined;
    if (call === undefined) this.#giveBack();
    if (item.execution === "server") {
      // What the provider searched by itself is known to no other; the tools that it found are.
      this.#tools.read(item.tools, `${at}/tools`);
      this.#dropped.push(at);
      return;
    }
    if (call !== undefined) this.#call(item, at, call);
    else if (result !== undefined) this.#result(item, at, result);
    else if (type === "additional_tools") this.#tools.read(item.tools, `${at}/tools`);
    else if (type === "reasoning") this.#reasoning(item, at);
    else if (type === "image_generation_call") this.#image(item, at);
    else if (type === "item_reference") {
      // References to items that are kept here were replaced before.
      throw fail("unsupported_option", "Send the item itself: it is not stored here.", { param: at });
    } else this.#dropped.push(at);
  }

  done(): NeutralMessage[] {
    this.#giveBack();
    return this.#messages;
  }

  /** Parts of the last message if it is of this kind, else of a new one. */
  #last(role: "user" | "assistant", at: string, goesOn: (first: Part | undefined) => boolean): Part[] {
    const last = this.#messages.at(-1);
    if (last?.role === role && goesOn(last.parts[0])) return last.parts;
    const parts: Part[] = [];
    this.#messages.push({ role, parts, at });
    return parts;
  }

  #assistant(at: string): Part[] {
    return this.#last("assistant", at, () => true);
  }

  /** A message that begins with a result has nothing else. */
  #results(at: string): Part[] {
    return this.#last("user", at, (first) => first?.type === "tool_result");
  }

  #message(item: JsonObject, at: string): void {
    const { role, content } = item;
    if (role === "assistant") {
      const parts = this.#assistantContent(content, `${at}/content`);
      if (parts.length > 0) append(this.#assistant(at), parts);
      return;
    }
    const isSystem = role === "system" || role === "developer";
    if (!isSystem && role !== "user") {
      throw fail("invalid_value", `${at}/role must be user, assistant, system or developer.`, {
        param: `${at}/role`,
      });
    }
    if (!isSystem) this.#called.by(false);
    const parts = this.#content(content, `${at}/content`);
    if (parts.length > 0) this.#messages.push({ role: isSystem ? "system" : "user", parts, at });
  }

  /** Content of an earlier answer. */
  #assistantContent(content: unknown, at: string): Part[] {
    if (typeof content === "string") return [{ type: "text", text: content }];
    const parts: Part[] = [];
    for (const [index, part] of partsOf(content, at).entries()) {
      if (part.type === "refusal") parts.push({ type: "refusal", text: stringOf(part.refusal) });
      else parts.push(...this.#part(part, `${at}/${index}`));
    }
    return parts;
  }

  #content(content: unknown, at: string): ContentPart[] {
    if (typeof content === "string") return [{ type: "text", text: content }];
    return partsOf(content, at).flatMap((part, index) => this.#part(part, `${at}/${index}`));
  }

  #part(part: JsonObject, at: string): ContentPart[] {
    switch (part.type) {
      case "input_text":
      case "output_text":
      case "text":
        if (typeof part.text !== "string") throw missing(`${at}/text`);
        return [{ type: "text", text: part.text }];
      case "input_image":
        return [imageOf(part, at, this.#source)];
      case "input_file":
        return [documentOf(part, at, this.#source)];
      default:
        this.#dropped.push(at);
        return [];
    }
  }

  /** An image of an earlier answer. */
  #image(item: JsonObject, at: string): void {
    const image = readImageInput(item, at);
    if (image === undefined) this.#dropped.push(at);
    else this.#assistant(at).push(image);
  }

  #call(item: JsonObject, at: string, { kind, has }: CallType): void {
    const id = idOf(item, at, kind);
    const name = this.#nameOf(item, at, kind);
    this.#called.by(true);
    this.#called.call(id, name);
    const call: ToolCallPart = {
      type: "tool_call",
      id,
      name,
      arguments: this.#argumentsOf(item[has], kind),
      ...(kind !== undefined && { kind }),
      ...(this.#callSeal !== undefined && { seal: this.#callSeal }),
    };
    this.#callSeal = undefined;
    this.#assistant(at).push(call);
  }

  #nameOf({ name, namespace }: JsonObject, at: string, kind: ToolKind | undefined): string {
    if (kind !== undefined && kind !== "custom") return this.#tools.nameOfKind(kind);
    if (typeof name !== "string") throw missing(`${at}/name`);
    return this.#tools.nameOf(namespace, name);
  }

  /** They stay text: dialects with objects write it as it is. */
  #argumentsOf(given: unknown, kind: ToolKind | undefined): string {
    const carried = this.#source.json(given);
    if (carried !== undefined) return argumentsText(carried.text);
    const text = this.#source.whole(stringOf(given));
    return kind === "custom" ? text : argumentsText(text);
  }

  #result(item: JsonObject, at: string, { kind }: ResultType): void {
    const id = idOf(item, at, kind);
    this.#called.by(false);
    const result: ToolResultPart = {
      type: "tool_result",
      id,
      name: this.#called.result(id) ?? stringOf(item.name),
      parts: this.#given(item, at, kind),
      isError: false,
      ...(kind !== undefined && { kind }),
    };
    this.#results(at).push(result);
  }

  /** What a tool gave. */
  #given(item: JsonObject, at: string, kind: ToolKind | undefined): ContentPart[] {
    const { output, status } = item;
    if (kind === "tool_search") return [this.#found(item, at)];
    if (kind === "shell" && isOfCommands(output)) return [{ type: "text", text: shellText(output) }];
    const parts = this.#content(output, `${at}/output`);
    const note = kind === "apply_patch" ? patchNote(status, parts.length > 0) : undefined;
    if (note === undefined) return parts;
    const [first, ...others] = parts;
    if (first?.type !== "text") return [{ type: "text", text: note }, ...parts];
    return [{ ...first, text: `${note}\n${first.text}` }, ...others];
  }

  /** The tools that a search found can be called from here on; the model is told which. */
  #found(item: JsonObject, at: string): TextPart {
    this.#tools.read(item.tools, `${at}/tools`);
    return foundTools(this.#tools.namesOf(item.tools));
  }

  #reasoning(item: JsonObject, at: string): void {
    const { encrypted_content: encrypted } = item;
    const whole = typeof encrypted === "string" ? this.#source.whole(encrypted) : "";
    const sealed = whole === "" ? undefined : unpackReasoning(whole);
    const texts: ReasoningPart[] = [];
    for (const text of textsOf(item.summary)) texts.push({ type: "reasoning", text, isSummary: true });
    for (const text of textsOf(item.content)) texts.push({ type: "reasoning", text });
    if (sealed !== undefined && texts.length === 0) this.#sealAlone(sealed, at);
    else if (sealed !== undefined) {
      const last = texts.length - 1;
      texts[last] = { ...(texts[last] as ReasoningPart), seal: sealed.seal };
    }
    if (texts.length > 0) append(this.#assistant(at), texts);
  }

  /** A seal without a text: that of redacted reasoning, or Google's of another part. */
  #sealAlone({ seal, isRedacted, isBehind }: Sealed, at: string): void {
    if (isBehind === true) this.#signLast(seal, at);
    else if (seal.by === "google") this.#callSeal = seal;
    else {
      const isWhole = isRedacted === true || seal.by === "openai";
      this.#assistant(at).push({ type: "reasoning", text: "", ...(isWhole && { isRedacted: true }), seal });
    }
  }

  #signLast(seal: Seal, at: string): void {
    const parts = this.#assistant(at);
    const part = parts.at(-1);
    const takes = part?.type === "text" || part?.type === "tool_call";
    if (takes) parts[parts.length - 1] = { ...part, seal };
    else parts.push({ type: "reasoning", text: "", seal });
  }

  /** A signature of Google's that no call followed. */
  #giveBack(): void {
    const seal = this.#callSeal;
    if (seal === undefined) return;
    this.#callSeal = undefined;
    this.#signLast(seal, this.#messages.at(-1)?.at ?? "/input");
  }
}

interface CallType {
  readonly kind?: ToolKind;
  /** The member that has what the tool is called with. */
  readonly has: string;
}

/** Items that are calls of the client's tools. */
const CALLS: Readonly<Record<string, CallType>> = {
  function_call: { has: "arguments" },
  custom_tool_call: { kind: "custom", has: "input" },
  local_shell_call: { kind: "local_shell", has: "action" },
  shell_call: { kind: "shell", has: "action" },
  apply_patch_call: { kind: "apply_patch", has: "operation" },
  tool_search_call: { kind: "tool_search", has: "arguments" },
};

interface ResultType {
  readonly kind?: ToolKind;
}

/** Items that are what those calls gave. */
const RESULTS: Readonly<Record<string, ResultType>> = {
  function_call_output: {},
  custom_tool_call_output: { kind: "custom" },
  local_shell_call_output: { kind: "local_shell" },
  shell_call_output: { kind: "shell" },
  apply_patch_call_output: { kind: "apply_patch" },
  tool_search_output: { kind: "tool_search" },
};

/** Outputs of the shell may have the call's id as their own (OpenAI API reference, "Local shell tool call output"). */
function idOf({ call_id: callId, id }: JsonObject, at: string, kind: ToolKind | undefined): string {
  if (typeof callId === "string") return callId;
  if (kind === "local_shell" && typeof id === "string") return id;
  throw missing(`${at}/call_id`);
}

/** A list of parts; empty if absent. */
function partsOf(content: unknown, at: string): JsonObject[] {
  if (content == null) return [];
  if (!Array.isArray(content)) throw wrong(at, "a string or a list");
  return content.map((part, index) => {
    if (!isObject(part) || typeof part.type !== "string") throw wrong(`${at}/${index}/type`, "a string");
    return part;
  });
}

const textsOf = (parts: unknown): string[] =>
  listOf(parts).flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : []));

function imageOf(part: JsonObject, at: string, from: Source): ImagePart {
  const { image_url: url, file_id: id, detail } = part;
  const source = typeof url === "string" ? mediaSource(from, url, `${at}/image_url`, OF_NO_TYPE) : fileOf(id);
  if (source === undefined) throw missing(`${at}/image_url`);
  return { type: "image", source, ...(typeof detail === "string" && { detail }), at };
}

function documentOf(part: JsonObject, at: string, from: Source): DocumentPart {
  const { file_data: data, file_url: url, file_id: id, filename: name } = part;
  let source: MediaSource | undefined;
  if (typeof data !== "string") source = typeof url === "string" ? { kind: "url", url } : fileOf(id);
  else if (data.startsWith("data:")) source = mediaSource(from, data, `${at}/file_data`, OF_NO_TYPE);
  else source = { kind: "data", mediaType: fileType(from.whole(stringOf(name))), data };
  if (source === undefined) throw missing(`${at}/file_data`);
  return { type: "document", source, ...(typeof name === "string" && { name }), at };
}

/** The media type of data URLs that name none. */
const OF_NO_TYPE = "application/octet-stream";

const fileOf = (id: unknown): MediaSource | undefined =>
  typeof id === "string" ? { kind: "file", id } : undefined;

export const wrong = (at: string, what: string) =>
  fail("invalid_value", `${at} must be ${what}.`, { param: at });

const missing = (at: string) => fail("invalid_value", `${at} is required.`, { param: at });
