/**
 * What a streamed answer's neutral events amount to, held to the rules of their contract on the way: so that a stream can
 * be compared with the whole answer, and a stream cut one way with the same cut another way.
 */
import { expect } from "vitest";
import { textOf } from "../../../src/wire/neutral/fragment.ts";
import type {
  MediaReplyPart,
  NeutralChoice,
  NeutralReply,
  ReplyPart,
  StreamEvent,
} from "../../../src/wire/neutral/neutral.ts";
import type { StreamReader } from "../../../src/wire/neutral/reader.ts";
import { CUT_STEP } from "../../support/effort.ts";

interface OpenPart {
  readonly begin: StreamEvent & { type: "begin" };
  text: string;
  readonly seals: (StreamEvent & { type: "seal" })["seal"][];
  readonly citations: (StreamEvent & { type: "citation" })["citation"][];
  ended: boolean;
  readonly media?: MediaReplyPart;
}

interface OpenChoice {
  readonly parts: OpenPart[];
  readonly logprobs: NonNullable<NeutralChoice["logprobs"]>[number][];
  stop?: NeutralChoice["stop"];
}

/** All events of a stream that comes in the given pieces. */
export function eventsOf(reader: StreamReader, pieces: readonly string[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const piece of pieces) reader.push(piece, (event) => events.push(event));
  reader.end((event) => events.push(event));
  return events;
}

/** Where a text may be cut in two and then gives other events than it does whole. */
export function splitsThatMatter(text: string, reader: () => StreamReader): number[] {
  const told = (pieces: readonly string[]) => JSON.stringify(eventsOf(reader(), pieces));
  const whole = told([text]);
  const found = told([...text]) === whole ? [] : [-1];
  for (let at = 0; at <= text.length; at += CUT_STEP) {
    if (told([text.slice(0, at), text.slice(at)]) !== whole) found.push(at);
  }
  return found;
}

/** An `expect` for each of a million events would take longer than what it looks at. */
function hold(isSo: boolean, rule: string): void {
  if (!isSo) expect.fail(rule);
}

/** The whole answer of a stream; fails where an event comes out of its order. */
export function assembled(events: readonly StreamEvent[]): NeutralReply {
  const choices: OpenChoice[] = [];
  let usage: NeutralReply["usage"];
  for (const event of events) {
    if (event.type === "usage") {
      usage = event.usage;
      continue;
    }
    choices[event.choice] ??= { parts: [], logprobs: [] };
    const choice = choices[event.choice] as OpenChoice;
    hold(choice.stop === undefined, "nothing of a choice follows its stop");
    if (event.type === "begin") {
      hold(event.part === choice.parts.length, "parts are numbered as they begin");
      choice.parts.push({ begin: event, text: "", seals: [], citations: [], ended: false });
      continue;
    }
    if (event.type === "stop") {
      hold(
        choice.parts.every(({ ended }) => ended),
        "a choice stops when its parts have ended",
      );
      choice.stop = event.stop;
      continue;
    }
    if (event.type === "media") {
      hold(event.part === choice.parts.length, "parts are numbered as they begin");
      const { choice: index, part, media } = event;
      const begin = { type: "begin", choice: index, part, kind: "text" } as const;
      choice.parts.push({ begin, text: "", seals: [], citations: [], ended: true, media });
      continue;
    }
    const part = choice.parts[event.part] as OpenPart;
    hold(part?.ended === false, "only open parts grow, and end once");
    if (event.type === "delta") {
      hold(event.text !== "", "no piece is empty");
      part.text += event.text;
      choice.logprobs.push(...(event.logprobs ?? []));
    } else if (event.type === "seal") part.seals.push(event.seal);
    else if (event.type === "citation") part.citations.push(event.citation);
    else part.ended = true;
  }
  return { choices: choices.map(choiceOf), usage };
}

function choiceOf({ parts, logprobs, stop }: OpenChoice): NeutralChoice {
  return {
    parts: parts.map(partOf),
    stop: stop ?? { reason: "other" },
    ...(logprobs.length > 0 && { logprobs }),
  };
}

function partOf({ begin, text, seals, citations, media }: OpenPart): ReplyPart {
  if (media !== undefined) return media;
  hold(seals.length <= 1, "a part has one seal");
  const seal = seals[0] === undefined ? {} : { seal: seals[0] };
  const whole = textOf(text);
  hold(whole !== "" || text === "", "pieces are JSON");
  if (begin.kind === "tool_call") {
    return { type: "tool_call", id: begin.id, name: begin.name, arguments: whole, ...seal };
  }
  if (begin.kind === "text") {
    return { type: "text", text: whole, ...(citations.length > 0 && { citations }), ...seal };
  }
  if (begin.kind === "refusal") return { type: "refusal", text: whole };
  return {
    type: "reasoning",
    text: whole,
    ...(begin.isRedacted === true && { isRedacted: true }),
    ...seal,
  };
}
