/** Both ends of the chat format in neutral terms: what tests read, write and fold with. */
import { WeirError } from "../../../src/base/errors.ts";
import { chatNeutral } from "../../../src/wire/chat/neutral-request.ts";
import { ChatStreamReader } from "../../../src/wire/chat/reader.ts";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { ChatStreamWriter } from "../../../src/wire/chat/writer.ts";
import type { AnswerIdentity } from "../../../src/wire/format.ts";
import { textOf } from "../../../src/wire/neutral/fragment.ts";
import type {
  NeutralChoice,
  NeutralRequest,
  ReasoningPart,
  ReplyPart,
  Stop,
  StreamEvent,
} from "../../../src/wire/neutral/neutral.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import { ID, type Json, MODEL, SVC, usage } from "../../support/wire/fixtures.ts";

export const IDENTITY: AnswerIdentity = {
  id: ID,
  requestId: SVC.request_id,
  model: MODEL,
  createdS: 1_750_000_000,
  clock: { now: () => 1_750_000_000_000 },
  maxEventBytes: 1 << 20,
  maxCaptureBytes: 1 << 20,
};

export const PNG = "data:image/png;base64,iVBORw0KGgo=";
export const CALL = { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } };

export interface Neutralised {
  readonly request: NeutralRequest;
  readonly source: Source;
  readonly bytes: Buffer;
}

export function neutralised(body: Json): Neutralised {
  const bytes = Buffer.from(
    JSON.stringify({ model: "v/m", messages: [{ role: "user", content: "x" }], ...body }),
  );
  const read = readChatRequest(bytes);
  const source = new Source(bytes, read.elided);
  return { request: chatNeutral(read, source), source, bytes };
}

export const neutral = (body: Json): NeutralRequest => neutralised(body).request;

/** The pointer of the field that a refusal names; undefined where there is none. */
export function refusedAt(body: Json): string | undefined {
  try {
    neutral(body);
  } catch (error) {
    if (!(error instanceof WeirError) || error.kind !== "invalid_value") throw error;
    return error.param;
  }
  return undefined;
}

export interface ReadStream {
  readonly events: readonly StreamEvent[];
  readonly reader: ChatStreamReader;
}

export function readPieces(pieces: readonly string[], maxEventBytes = 1 << 20): ReadStream {
  const reader = new ChatStreamReader(maxEventBytes);
  const events: StreamEvent[] = [];
  const emit = (event: StreamEvent) => {
    events.push(event);
  };
  for (const piece of pieces) reader.push(piece, emit);
  reader.end(emit);
  return { events, reader };
}

/** What a client gets of the events, all of it. */
export function written(events: readonly StreamEvent[], includeUsage = true): string {
  const writer = new ChatStreamWriter(IDENTITY, includeUsage);
  let out = "";
  let used = usage(1, 1);
  for (const event of events) {
    if (event.type === "usage") used = event.usage;
    out += writer.write(event);
  }
  return out + writer.close(used, SVC);
}

/** Chunks as an upstream would send them, one delta each. */
export const streamOf = (deltas: readonly Json[], finish: string | null = "stop"): string => {
  const chunk = (delta: Json, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: "up-1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const all = [...deltas.map((delta) => chunk(delta, null)), chunk({}, finish), "data: [DONE]\n\n"].join("");
  return Buffer.from(all).toString("latin1");
};

interface Folded {
  readonly parts: Map<number, { part: ReplyPart; text: string; open: boolean }>;
  stop: Stop | undefined;
}

/**
 * The whole answer that events amount to.
 * @throws Error where they break the order that the contract promises.
 */
export function folded(events: readonly StreamEvent[]): NeutralChoice[] {
  const choices = new Map<number, Folded>();
  for (const event of events) {
    if (event.type === "usage") continue;
    const choice = choices.get(event.choice) ?? { parts: new Map(), stop: undefined };
    choices.set(event.choice, choice);
    if (choice.stop !== undefined) throw new Error(`${event.type} after the stop`);
    take(choice, event);
  }
  return [...choices.entries()]
    .sort(([a], [b]) => a - b)
    .map(([, { parts, stop }]) => ({
      parts: [...parts.values()].map(({ part, text }) => finished(part, text)),
      stop: stop ?? { reason: "other" },
    }));
}

function take(choice: Folded, event: Exclude<StreamEvent, { type: "usage" }>): void {
  if (event.type === "stop") {
    if ([...choice.parts.values()].some(({ open }) => open)) throw new Error("a stop before the parts' end");
    choice.stop = event.stop;
    return;
  }
  if (event.type === "begin") {
    if (event.part !== choice.parts.size) throw new Error(`part ${event.part} begins out of order`);
    choice.parts.set(event.part, { part: begun(event), text: "", open: true });
    return;
  }
  if (event.type === "media") {
    if (event.part !== choice.parts.size) throw new Error(`part ${event.part} comes out of order`);
    choice.parts.set(event.part, { part: event.media, text: "", open: false });
    return;
  }
  const place = choice.parts.get(event.part);
  if (place?.open !== true) throw new Error(`${event.type} of a part that is not open`);
  if (event.type === "delta") place.text += event.text;
  else if (event.type === "end") place.open = false;
  else if (event.type === "seal" && place.part.type !== "refusal")
    place.part = { ...place.part, seal: event.seal };
  else if (event.type === "citation" && place.part.type === "text") {
    place.part = { ...place.part, citations: [...(place.part.citations ?? []), event.citation] };
  }
}

function begun(event: Extract<StreamEvent, { type: "begin" }>): ReplyPart {
  if (event.kind === "tool_call") return { type: "tool_call", id: event.id, name: event.name, arguments: "" };
  if (event.kind !== "reasoning") return { type: event.kind, text: "" };
  const part: ReasoningPart = { type: "reasoning", text: "" };
  return {
    ...part,
    ...(event.isSummary === true && { isSummary: true }),
    ...(event.isRedacted === true && { isRedacted: true }),
  };
}

function finished(part: ReplyPart, fragment: string): ReplyPart {
  if (part.type === "media") return part;
  const text = textOf(fragment);
  return part.type === "tool_call" ? { ...part, arguments: text === "" ? "{}" : text } : { ...part, text };
}

const VALUES: readonly unknown[] = [
  null,
  0,
  -1,
  1.5,
  1e300,
  true,
  "",
  "x",
  "{",
  "data:",
  "data:x;base64,",
  [],
  {},
  [null],
  [[]],
  { a: 1 },
  { type: "text" },
];

/** The value with one member somewhere in it replaced, or all of it. */
export function mutated(value: unknown, random: () => number): unknown {
  const other = VALUES[Math.floor(random() * VALUES.length)];
  if (typeof value !== "object" || value === null || random() < 0.12) return other;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value };
  const keys = Object.keys(copy);
  const key = keys[Math.floor(random() * keys.length)];
  if (key === undefined) return other;
  const members = copy as Record<string, unknown>;
  members[key] = mutated(members[key], random);
  return copy;
}
