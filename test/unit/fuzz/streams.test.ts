/**
 * Damaged streams of every dialect: they end in a typed error or go on, wherever they are cut into reads. What the client
 * gets is whole events of JSON, and amounts to what the same answer is as a whole.
 */
import { beforeAll, describe } from "vitest";
import type { Dialect } from "../../../src/base/endpoint.ts";
import { NO_USAGE } from "../../../src/base/usage.ts";
import { GENERATION_DIALECTS } from "../../../src/wire/dialects.ts";
import type {
  AnswerIdentity,
  ClientFormat,
  ClientRequest,
  FormatName,
  Passage,
} from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import type { StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { canAnswer } from "../../../src/wire/passages.ts";
import { NeutralCapture } from "../../../src/wire/relay/capture.ts";
import type { SseEvent } from "../../support/conformance/ask.ts";
import {
  ANSWERED,
  checkFacts,
  checkUsage,
  endpointsOf,
  eventsIn,
  gathered,
  gist,
  IDENTITY,
  isFragment,
  isInOrder,
  must,
  objectIn,
  typed,
  UPSTREAMS_FAULT,
  wayTo,
} from "../../support/fuzz/rules.ts";
import { answerSeeds, GENERATION, SPLICED } from "../../support/fuzz/seeds.ts";
import { CLIENTS, requestOf } from "./asked.ts";
import { damagedStream, FRAME_FRAMING, pieced, SSE_FRAMING } from "./framing.ts";
import { family, type Round } from "./harness.ts";
import { pick } from "./mutations.ts";

/** Formats that are dialects too, so that what is written can be read again. */
const OWN: readonly FormatName[] = ["chat", "responses", "messages"];

interface Passed {
  readonly out: string;
  /** What is equal however the stream was cut. */
  readonly facts: string;
}

/** What its clients go by: every event says whose it is, and the last word is the format's. */
function checkFormat(name: FormatName, events: readonly SseEvent[]): void {
  const last = events.at(-1);
  must(last !== undefined, "nothing at the end");
  if (name === "chat" || name === "completions") {
    must(last.data === "[DONE]", `the last is ${last.data}`);
    for (const { data } of events.slice(0, -1)) {
      const { id, model, choices } = JSON.parse(Buffer.from(data, "latin1").toString());
      must(id === IDENTITY.id && model === IDENTITY.model && Array.isArray(choices), `a chunk is ${data}`);
    }
  } else
    must(
      last.data.includes(`"endpoint_id":"${ANSWERED.endpoint_id}"`),
      `the last says nothing of us: ${last.data}`,
    );
}

/** A stream on its way to a client; undefined where it was refused. @param same what was checked already */
function pass(
  format: ClientFormat,
  passage: Passage,
  request: ClientRequest,
  pieces: readonly string[],
  bounds: Partial<AnswerIdentity>,
  same = "",
): Passed | undefined {
  const stream = passage.stream(request, { ...IDENTITY, ...bounds });
  const isOurs = format.splice?.passage !== passage;
  let out = "";
  let bytes = 0;
  const whole = typed(UPSTREAMS_FAULT, format, () => {
    for (const piece of pieces) {
      out += stream.push(piece);
      must(stream.textBytes >= bytes, "text was taken back");
      bytes = stream.textBytes;
    }
    out += stream.end();
    return true;
  });
  checkFacts(stream.facts);
  must(stream.facts.outputBytes === stream.textBytes, "two counts of bytes");
  const kept = stream.kept();
  if (kept !== undefined) objectIn(kept);
  if (whole === undefined || stream.error !== undefined || !(stream.done || stream.complete)) {
    eventsIn(out, isOurs);
    return undefined;
  }
  out += stream.close(stream.facts.usage ?? NO_USAGE, ANSWERED);
  if (out !== same) checkFormat(format.name, eventsIn(out, isOurs));
  const response = stream.responseJson?.();
  if (response !== undefined) objectIn(Buffer.from(response));
  const { facts, done, complete, malformed } = stream;
  return { out, facts: JSON.stringify([facts, done, complete, malformed, kept?.toString("latin1")]) };
}

/** All events of a reader, counted on the way; undefined where the stream was refused or reported an error. */
function read(dialect: Dialect, pieces: readonly string[], format: ClientFormat): StreamEvent[] | undefined {
  const reader = GENERATION_DIALECTS.get(dialect)?.streamReader(IDENTITY.maxEventBytes);
  must(reader !== undefined, "no such dialect");
  const capture = new NeutralCapture(IDENTITY.maxCaptureBytes);
  const events: StreamEvent[] = [];
  let textBytes = 0;
  const take = (event: StreamEvent) => {
    events.push(event);
    capture.take(event);
    if (event.type === "delta") textBytes += event.text.length;
    if (event.type === "usage") checkUsage(event.usage);
  };
  const whole = typed(UPSTREAMS_FAULT, format, () => {
    for (const piece of pieces) reader.push(piece, take);
    reader.end(take);
    return true;
  });
  must(capture.textBytes === textBytes, "the capture lost bytes");
  return whole === undefined || reader.error !== undefined || !(reader.done || reader.complete)
    ? undefined
    : events;
}

/** What a format writes of an answer, streamed and whole, read again: both must say the same. */
function writtenTwice(format: ClientFormat, request: ClientRequest, events: readonly StreamEvent[]): void {
  const { generation, name } = format;
  must(generation !== undefined, "no generation");
  const reply = gathered(events);
  const usage = reply.usage ?? NO_USAGE;
  const whole = objectIn(Buffer.from(generation.writeReply(reply, request, IDENTITY, usage, ANSWERED)));
  const writer = generation.streamWriter(request, IDENTITY);
  let out = "";
  for (const event of events) out += writer.write(event);
  out += writer.close(usage, ANSWERED);
  eventsIn(out, true);
  const own = OWN.includes(name) ? GENERATION_DIALECTS.get(name as Dialect) : undefined;
  // A lone choice that is not the first has no place in formats of one answer.
  const isOne = reply.choices.length === 1 && events.every((e) => !("choice" in e) || e.choice === 0);
  if (own === undefined || !isOne || !isInOrder(events)) return;
  const again = read(own.name, [out], format);
  must(again !== undefined, "what was written cannot be read");
  const streamed = gist(gathered(again));
  const atOnce = gist(own.readReply(whole));
  must(streamed === atOnce, `${name} ${gist(reply)}\nstreamed ${streamed}\nwhole ${atOnce}`);
}

describe("streams", () => {
  let found: ReadonlyMap<Dialect, readonly string[]>;
  beforeAll(async () => {
    found = await answerSeeds(true);
  });

  const damaged = (round: Round, dialect: Dialect): string =>
    round.damaged(
      damagedStream(dialect === "converse" ? FRAME_FRAMING : SSE_FRAMING),
      found.get(dialect) ?? [],
    );

  for (const dialect of [...GENERATION, ...SPLICED]) {
    const to = endpointsOf(dialect)[0];
    const clients = CLIENTS.filter((name) => to && canAnswer(FORMATS[name], to));
    family(`streams of ${dialect}`, 0.2, (round) => {
      const { random } = round;
      const text = damaged(round, dialect);
      const name = pick(random, clients);
      const format = FORMATS[name];
      const request = requestOf(name, random);
      const passage = to && wayTo(format, to);
      must(passage !== undefined, "no way there");
      const bounds = random() < 0.1 ? { maxEventBytes: 900, maxCaptureBytes: 60 } : {};
      const cut = pass(format, passage, request, pieced(text, random), bounds);
      if (cut === undefined) return false;
      const whole = pass(format, passage, request, [text], bounds, cut.out);
      if (whole !== undefined) {
        must(whole.out === cut.out, `cut ${cut.out}\nwhole ${whole.out}`);
        must(whole.facts === cut.facts, `cut ${cut.facts}\nwhole ${whole.facts}`);
      }
      return true;
    });
  }

  for (const dialect of GENERATION) {
    family(`events of ${dialect}`, 0.2, (round) => {
      const { random } = round;
      const text = damaged(round, dialect);
      const name = pick(random, CLIENTS);
      const events = read(dialect, pieced(text, random), FORMATS[name]);
      if (events === undefined) return false;
      for (const event of events) must(event.type !== "delta" || isFragment(event.text), "no piece of JSON");
      writtenTwice(FORMATS[name], requestOf(name, random), events);
      return true;
    });
  }
});
