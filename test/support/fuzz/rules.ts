/**
 * What must hold of everything that comes out, whatever went in. Plain checks that throw: they run some million times, and
 * the runner's own would take most of the time.
 */
import type { Dialect, Endpoint } from "../../../src/base/endpoint.ts";
import { WeirError } from "../../../src/base/errors.ts";
import type { Usage } from "../../../src/base/usage.ts";
import type { AnswerIdentity, ClientFormat, ClientRequest, Passage } from "../../../src/wire/format.ts";
import { wellFormedJson } from "../../../src/wire/json/surrogates.ts";
import type { ReplyFacts, SvcReply } from "../../../src/wire/neutral/contract.ts";
import { textOf } from "../../../src/wire/neutral/fragment.ts";
import type {
  NeutralChoice,
  NeutralReply,
  ReplyPart,
  Stop,
  StreamEvent,
} from "../../../src/wire/neutral/neutral.ts";
import { hasMark } from "../../../src/wire/neutral/source.ts";
import { argumentsObject } from "../../../src/wire/neutral/tool-arguments.ts";
import { passageTo } from "../../../src/wire/passages.ts";
import { type SseEvent, sseEvents } from "../conformance/ask.ts";
import { endpoint, provider } from "../routing/fixtures.ts";
import { SVC } from "../wire/fixtures.ts";

export const IDENTITY: AnswerIdentity = {
  id: `x_${SVC.request_id}`,
  requestId: SVC.request_id,
  model: "vendor/model-1",
  createdS: 1_761_000_000,
  clock: { now: () => 1_761_000_000_000 },
  maxEventBytes: 1 << 20,
  maxCaptureBytes: 1 << 20,
};

export const ANSWERED: SvcReply = { ...SVC, warnings: ['"é\u2028'] };

export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** Kinds of refusals: of what a client sent, and of what an upstream sent. */
export const CLIENTS_FAULT: readonly string[] = [
  "invalid_json",
  "invalid_value",
  "unsupported_option",
  "capability_not_supported",
];
export const UPSTREAMS_FAULT: readonly string[] = ["upstream_invalid_response"];

/** What was made; undefined where it was refused as it may be. */
export function typed<T>(kinds: readonly string[], format: ClientFormat, act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof WeirError) || !kinds.includes(error.kind)) throw error;
    const { param } = error;
    must(param === undefined || param === "" || param.startsWith("/"), `no pointer: ${param}`);
    must(!hasMark(error.message + (param ?? "")), "a mark in an error");
    JSON.parse(format.errorBody(error, "r"));
    must(sseEvents(format.errorEvent(error, "r")).length === 1, "an error is one event");
    return undefined;
  }
}

const isCount = (count: number | undefined): boolean =>
  count === undefined || (Number.isSafeInteger(count) && count >= 0);

export function checkUsage(usage: Usage | undefined): void {
  if (usage === undefined) return;
  for (const [name, count] of Object.entries(usage)) must(isCount(count), `${name} is ${count}`);
  must(isCount(usage.inputTokens + usage.outputTokens), "the total of tokens is unsafe");
}

export function checkFacts(facts: ReplyFacts): void {
  checkUsage(facts.usage);
  const { outputBytes, unreportedBytes, toolCalls } = facts;
  must(isCount(outputBytes) && isCount(unreportedBytes) && isCount(toolCalls), "facts are counts");
  must(unreportedBytes <= outputBytes, "more unreported than there is");
}

/**
 * Whether bytes are JSON to the last. Long strings pass unread, so what is wrong inside of one is found at the far end; it
 * never ends the string.
 */
export function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

/** The bytes of a text that says one JSON object. */
export function objectIn(bytes: Buffer): Record<string, unknown> {
  const text = bytes.toString();
  must(!hasMark(text), "a mark in a body");
  const value: unknown = JSON.parse(text);
  must(typeof value === "object" && value !== null && !Array.isArray(value), "no object");
  return value as Record<string, unknown>;
}

/** The events of what a client was sent: whole ones, each of JSON. @param isOurs no name is the upstream's */
export function eventsIn(latin1: string, isOurs: boolean): SseEvent[] {
  must(latin1 === "" || latin1.endsWith("\n\n"), "ends within an event");
  must(!hasMark(latin1), "a mark in a stream");
  const events = sseEvents(latin1);
  for (const { data, name } of events) {
    if (data === "[DONE]") continue;
    const event = JSON.parse(Buffer.from(data, "latin1").toString());
    must(typeof event === "object" && event !== null, "an event that is no object");
    if (isOurs && name !== "")
      must(event.type === undefined || event.type === name, "another name than type");
  }
  return events;
}

/** How a provider may depart from its dialect. */
const DEPARTS = {
  rename: { max_tokens: "maximum", temperature: "temp", messages: "turns", x: "model" },
  unsupported: ["seed", "tools", "stop", "input_type"],
  omit: ["stream", "model"],
  set: { extra: { a: "é" }, top_p: 1 },
};

/** Two endpoints of a dialect: one as the dialect is, and one that departs from it. */
export function endpointsOf(dialect: Dialect): readonly Endpoint[] {
  const plain = endpoint("fuzz", { dialects: [dialect], upstreamModel: "claude-up" });
  const quirks = { ...provider("p-fuzz").quirks, streamUsage: false, bodies: { [dialect]: DEPARTS } };
  const given = {
    dialects: [dialect],
    upstreamModel: "gemini-3-up",
    provider: { ...provider("p-fuzz"), quirks },
  };
  return [
    plain,
    endpoint("fuzz", given),
    endpoint("fuzz", { dialects: [dialect], upstreamModel: "gpt-5-up" }),
  ];
}

export function wayTo(format: ClientFormat, to: Endpoint): Passage<ClientRequest> | undefined {
  return passageTo(format, to)?.passage;
}

/**
 * What a client makes of an answer, however its format cuts it into parts. Arguments that are no JSON are left out: a stream has sent them when that shows, a whole answer may have no place for them.
 */
export function gist(reply: NeutralReply): string {
  const said = JSON.stringify(
    reply.choices.map(({ parts, stop }) => {
      const proseOf = (type: string) =>
        parts.map((part) => (part.type === type && "text" in part ? part.text : "")).join("");
      const calls = parts.flatMap((part) =>
        part.type === "tool_call" && part.name !== ""
          ? [[part.id, part.name, argumentsIn(part.arguments)]]
          : [],
      );
      return [proseOf("text"), proseOf("reasoning"), proseOf("refusal"), calls, stop.reason];
    }),
  );
  // Halves of pairs are written as U+FFFD, in a stream as soon as no other half can follow.
  return JSON.stringify(JSON.parse(wellFormedJson(said)));
}

/** The arguments as clients read them; none where they are no object, whatever a format says then. */
function argumentsIn(text: string): unknown {
  try {
    const value = argumentsObject(text)?.value;
    // What nests too deep to be written once more is compared no further.
    JSON.stringify(value);
    return typeof value === "object" && value !== null && !("INVALID_JSON" in value) ? value : {};
  } catch {
    return {};
  }
}

/** A streamed answer as a whole one, held to the rules of the contract on the way. */
export function gathered(events: readonly StreamEvent[]): NeutralReply {
  const choices: GatheredChoice[] = [];
  let usage: Usage | undefined;
  for (const event of events) {
    if (event.type === "usage") {
      usage = event.usage;
      continue;
    }
    must(event.choice >= 0 && event.choice < 1000, `choice ${event.choice}`);
    choices[event.choice] ??= { parts: [], stop: undefined };
    const { parts, stop } = choices[event.choice] as GatheredChoice;
    must(stop === undefined, "more of a choice that has stopped");
    if (event.type === "begin") {
      must(event.part === parts.length, "parts are numbered as they begin");
      parts.push({ begin: event, text: "", isOpen: true });
    } else if (event.type === "media") {
      must(event.part === parts.length, "parts are numbered as they come");
      parts.push({ begin: event, text: "", isOpen: false });
    } else if (event.type === "stop") {
      must(!parts.some(({ isOpen }) => isOpen), "stopped before its parts ended");
      (choices[event.choice] as GatheredChoice).stop = event.stop;
    } else {
      const part = parts[event.part];
      must(part?.isOpen === true, `${event.type} of no open part`);
      if (event.type === "delta") part.text += event.text;
      else if (event.type === "end") part.isOpen = false;
    }
  }
  return { choices: choices.flatMap((choice) => [choiceOf(choice)]), usage };
}

interface GatheredChoice {
  readonly parts: { readonly begin: Begin; text: string; isOpen: boolean }[];
  stop: Stop | undefined;
}

type Begin = Extract<StreamEvent, { type: "begin" | "media" }>;

function choiceOf({ parts: read, stop }: GatheredChoice): NeutralChoice {
  must(stop !== undefined, "a choice that never stops");
  const parts = read.map(({ begin, text }): ReplyPart => {
    must(isFragment(text), "pieces that are no JSON");
    const whole = textOf(text);
    if (begin.type === "media") return begin.media;
    if (begin.kind !== "tool_call") return { type: begin.kind, text: whole };
    const { id, name, tool: kind } = begin;
    if (kind === "custom") return { type: "tool_call", id, name, kind, arguments: whole };
    return { type: "tool_call", id, name, arguments: whole === "" ? "{}" : whole };
  });
  return { parts, stop };
}

/** Whether a format that has one text for all parts of a kind says the same streamed and whole. */
export function isInOrder(events: readonly StreamEvent[]): boolean {
  const kinds = new Map<number, string>();
  const last = new Map<string, number>();
  for (const event of events) {
    if (event.type === "begin") {
      if (event.kind === "tool_call" && event.name === "") return false;
      kinds.set(event.part, event.kind);
    } else if (event.type === "delta") {
      const kind = kinds.get(event.part) ?? "";
      if (kind !== "tool_call" && event.part < (last.get(kind) ?? 0)) return false;
      last.set(kind, event.part);
    }
  }
  return true;
}

/** Pieces of a JSON string, put together, are the inside of one. */
export const isFragment = (text: string): boolean => text === "" || textOf(text) !== "";
