/**
 * The conversation of a chat-completions request in neutral terms: messages of every role, their parts, tool calls and
 * their results (OpenAI API reference, "Create chat completion"; reasoning as DeepSeek and OpenRouter take it back).
 */

import { listAt, objectAt, optional, stringAt, wrong } from "../neutral/fields.ts";
import type {
  NeutralMessage,
  Part,
  RefusalPart,
  Seal,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../neutral/neutral.ts";
import type { JsonObject } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";
import { OpenCalls } from "../tool-kinds/open-calls.ts";
import { readCitations } from "./citations.ts";
import { audioPart, filePart, imagePart, videoPart } from "./neutral-media.ts";
import { CACHE_KEYS, dropOthers, type Reading, readCache } from "./neutral-reading.ts";
import { readExtraSeal, readReasoning, thinkingText } from "./reasoning.ts";

type Role = NeutralMessage["role"];

const ROLES: Readonly<Record<string, Role | "result">> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "result",
  function: "result",
};

const ASSISTANT_KEYS = [
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "annotations",
  "images",
  "extra_content",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  ...CACHE_KEYS,
];
/** Types of parts that have a member of the same name: a part without a type is recognised by it. */
const PART_KINDS = ["text", "image_url", "file", "input_audio", "video_url", "refusal"];
const PLAIN_KEYS = ["role", "content", ...CACHE_KEYS];
const CALL_KEYS = ["id", "type", "index", "function", "custom", "extra_content", ...CACHE_KEYS];
const RESULT_KEYS = [...PLAIN_KEYS, "tool_call_id", "name"];

export function readMessages(reading: Reading, messages: readonly unknown[]): NeutralMessage[] {
  return new Conversation(reading).read(messages);
}

class Conversation {
  readonly #reading: Reading;
  readonly #messages: NeutralMessage[] = [];
  /** Results do not say whose they are. */
  readonly #called = new OpenCalls<ToolCallPart>();
  /** The ids given to calls in `function_call`, by the function's name: that older form has no ids. */
  readonly #ids = new Map<string, string>();
  /** Parts of the last message while it takes further results. */
  #results: ToolResultPart[] | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  read(messages: readonly unknown[]): NeutralMessage[] {
    for (const [index, value] of messages.entries()) this.#message(value, `/messages/${index}`);
    return this.#messages;
  }

  #message(value: unknown, at: string): void {
    const message = objectAt(value, at);
    const name = stringAt(message.role, `${at}/role`);
    const role = Object.hasOwn(ROLES, name) ? ROLES[name] : undefined;
    if (role === undefined) throw wrong(`${at}/role`, Object.keys(ROLES).join(", "));
    if (role !== "system") this.#called.by(role === "assistant");
    if (role === "result") {
      this.#result(message, at);
      return;
    }
    this.#results = undefined;
    dropOthers(this.#reading, message, at, role === "assistant" ? ASSISTANT_KEYS : PLAIN_KEYS);
    const parts = role === "assistant" ? this.#assistant(message, at) : this.#content(message.content, at);
    this.#messages.push({ role, parts: marked(parts, readCache(this.#reading, message, at)), at });
  }

  /** @param fits types that the message's role may have; other parts are dropped */
  #content<P extends Part = Part>(content: unknown, at: string, fits?: (part: Part) => part is P): P[] {
    const parts: P[] = [];
    const add = (part: Part | undefined, place: string) => {
      if (part === undefined || (fits !== undefined && !fits(part))) this.#reading.dropped.push(place);
      else parts.push(part as P);
    };
    const place = `${at}/content`;
    if (typeof content === "string") {
      if (content !== "") add({ type: "text", text: content }, place);
      return parts;
    }
    for (const [index, value] of (optional(content, place, listAt) ?? []).entries()) {
      const partAt = `${place}/${index}`;
      // Some clients send the text as a string.
      const part = typeof value === "string" ? { type: "text", text: value } : objectAt(value, partAt);
      add(this.#part(part, partAt), partAt);
    }
    return parts;
  }

  #part(part: JsonObject, at: string): Part | undefined {
    const reading = this.#reading;
    const kind = PART_KINDS.find((known) => (part.type == null ? known in part : known === part.type));
    if (kind !== undefined) dropOthers(reading, part, at, ["type", kind, ...CACHE_KEYS]);
    switch (kind ?? part.type) {
      case "text":
        return textPart(reading, part, at);
      case "image_url":
        return imagePart(reading, part, at);
      case "file":
        return filePart(reading, part, at);
      case "input_audio":
        return audioPart(reading, part, at);
      case "video_url":
        return videoPart(reading, part, at);
      case "refusal":
        return { type: "refusal", text: stringAt(part.refusal, `${at}/refusal`) };
      case "thinking":
        return { type: "reasoning", text: thinkingText(part) };
      default:
        return undefined;
    }
  }

  /** Reasoning first: its makers require it before the content that followed from it. */
  #assistant(message: JsonObject, at: string): Part[] {
    const { parts: reasoning, callSeals } = readReasoning(message);
    const content = this.#content(message.content, at);
    const refusal = optional(message.refusal, `${at}/refusal`, stringAt);
    if (refusal) content.push({ type: "refusal", text: refusal } satisfies RefusalPart);
    const last = content.findLastIndex((part) => part.type === "text");
    const calls = this.#calls(message, at).map((call) => {
      const sealed = call.seal ?? callSeals.get(call.id);
      return sealed === undefined ? call : { ...call, seal: sealed };
    });
    const seal = ownSeal(message, calls);
    if (last >= 0) {
      const citations = readCitations(message.annotations);
      const extras = { ...(seal && { seal }), ...(citations.length > 0 && { citations }) };
      content[last] = { ...(content[last] as TextPart), ...extras };
    } else if (seal !== undefined) {
      reasoning.push({ type: "reasoning", text: "", seal });
    }
    return [...reasoning, ...content, ...this.#images(message, at), ...calls];
  }

  /** Images of an earlier answer. */
  #images(message: JsonObject, at: string): Part[] {
    const place = `${at}/images`;
    return (optional(message.images, place, listAt) ?? []).map((value, index) => {
      const image = objectAt(value, `${place}/${index}`);
      const seal = readExtraSeal(image.extra_content);
      return { ...imagePart(this.#reading, image, `${place}/${index}`), ...(seal && { seal }) };
    });
  }

  #calls(message: JsonObject, at: string): ToolCallPart[] {
    const place = `${at}/tool_calls`;
    const calls = (optional(message.tool_calls, place, listAt) ?? []).map((value, index) =>
      this.#call(objectAt(value, `${place}/${index}`), `${place}/${index}`),
    );
    const legacy = optional(message.function_call, `${at}/function_call`, objectAt);
    if (legacy !== undefined) {
      const call = this.#named(legacy, `${at}/function_call`, `call${at.replaceAll("/", "_")}`, "arguments");
      this.#ids.set(call.name, call.id);
      calls.push(call);
    }
    for (const call of calls) this.#called.call(call.id, call);
    return calls;
  }

  #call(call: JsonObject, at: string): ToolCallPart {
    dropOthers(this.#reading, call, at, CALL_KEYS);
    const id = this.#reading.source.whole(stringAt(call.id, `${at}/id`));
    const custom = call.type === "custom";
    const key = custom ? "custom" : "function";
    const fn = objectAt(call[key], `${at}/${key}`);
    const part = this.#named(fn, `${at}/${key}`, id, custom ? "input" : "arguments");
    const seal = readExtraSeal(call.extra_content);
    const cache = readCache(this.#reading, call, at);
    return { ...part, ...(seal && { seal }), ...(cache && { cache }) };
  }

  #named(fn: JsonObject, at: string, id: string, key: "arguments" | "input"): ToolCallPart {
    const { source } = this.#reading;
    const name = source.whole(stringAt(fn.name, `${at}/name`));
    if (key === "input") {
      const input = source.whole(stringAt(fn.input, `${at}/input`));
      return { type: "tool_call", id, name, arguments: input, kind: "custom" };
    }
    return { type: "tool_call", id, name, arguments: givenArguments(source, fn.arguments) };
  }

  #result(message: JsonObject, at: string): void {
    dropOthers(this.#reading, message, at, RESULT_KEYS);
    const { source } = this.#reading;
    const given = optional(message.name, `${at}/name`, stringAt);
    let id: string;
    if (message.role === "function") {
      const name = source.whole(stringAt(given, `${at}/name`));
      id = this.#ids.get(name) ?? `call${at.replaceAll("/", "_")}`;
    } else {
      id = source.whole(stringAt(message.tool_call_id, `${at}/tool_call_id`));
    }
    const cache = readCache(this.#reading, message, at);
    const call = this.#called.result(id);
    const part: ToolResultPart = {
      type: "tool_result",
      id,
      name: call?.name ?? given ?? "",
      parts: this.#content(message.content, at, isResultPart),
      isError: false,
      ...(call?.kind && { kind: call.kind }),
      ...(cache && { cache }),
    };
    if (this.#results === undefined) {
      this.#results = [part];
      this.#messages.push({ role: "user", parts: this.#results, at });
    } else {
      this.#results.push(part);
    }
  }
}

/** Some clients send the object itself. */
function givenArguments(source: Source, given: unknown): string {
  const carried = source.json(given);
  if (carried !== undefined) return argumentsText(carried.text);
  return argumentsText(typeof given === "string" ? source.whole(given) : given);
}

function textPart(reading: Reading, part: JsonObject, at: string): TextPart {
  const text = stringAt(part.text, `${at}/text`);
  const cache = readCache(reading, part, at);
  return cache === undefined ? { type: "text", text } : { type: "text", text, cache };
}

/** A cache mark of the message counts as one of its last part that can have one. */
function marked(parts: readonly Part[], cache: TextPart["cache"]): readonly Part[] {
  if (cache === undefined) return parts;
  const at = parts.findLastIndex(canBeMarked);
  const part = parts[at];
  return part === undefined ? parts : parts.with(at, { ...part, cache } as Part);
}

const isResultPart = (part: Part): part is ToolResultPart["parts"][number] =>
  part.type === "text" || part.type === "image" || part.type === "document";

const canBeMarked = ({ type }: Part): boolean =>
  type === "text" || type === "image" || type === "document" || type === "tool_call";

/**
 * The signature of the message's text. Clients that copy a call's extra members to its message (OpenAI's Agents SDK) have
 * the call's signature there: Google refuses it on the text.
 */
function ownSeal(message: JsonObject, calls: readonly ToolCallPart[]): Seal | undefined {
  const seal = readExtraSeal(message.extra_content);
  return calls.some((call) => call.seal !== undefined && call.seal.data === seal?.data) ? undefined : seal;
}
