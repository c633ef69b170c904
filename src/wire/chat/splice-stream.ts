/**
 * A spliced chat-completions stream: events are passed on with our id and model, and without their usage, which is sent in
 * the last chunk. If events share the JSON around their choices, only the choices are parsed.
 */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity } from "../format.ts";
import {
  applyEdits,
  type Edit,
  latin1Json,
  type Member,
  memberOf,
  removeMembers,
  setMember,
  skim,
} from "../json/json.ts";
import { UNBOUNDED } from "../json/json-bounds.ts";
import { copied } from "../json/latin1.ts";
import { quotedId, quotedName } from "../json/quoted.ts";
import { Shapes } from "../json/shape.ts";
import { signsOf } from "../json/signs.ts";
import type { SvcReply } from "../neutral/contract.ts";
import type { Passed } from "../neutral/frames/frame.ts";
import type { Fragment } from "../neutral/neutral.ts";
import {
  type EventTap,
  isObject,
  type JsonObject,
  listOf,
  type PartPlace,
  parsed,
  type StreamReader,
} from "../neutral/reader.ts";
import { sseData, waiting } from "../neutral/sse.ts";
import { chunkEdits, type MendedCalls } from "../relay/call-edits.ts";
import { SplicedStream } from "../relay/captured-stream.ts";
import { SET_MEMBERS } from "../relay/spliced-answer.ts";
import { svcJson } from "../svc.ts";
import { ChoicesMemory } from "./chunks/choices-memory.ts";
import { type Enclosed, type Envelope, enclosedIn, envelopeOf } from "./chunks/envelope.ts";
import { type EnvelopeForms, FormsOfModels, type LearnedEvent } from "./chunks/envelope-form.ts";
import { type CutChunk, cutChunk } from "./chunks/finish-chunk.ts";
import { ChatStreamReader } from "./reader.ts";
import type { ChatRequest } from "./request.ts";
import { readChatUsage, writeChatUsage } from "./usage.ts";

const HEAD = "data: ";

const NO_MEMBERS: readonly Member[] = [];

interface ChunkReader extends StreamReader {
  /** The calls of the last event that lack something; undefined where none does. */
  readonly mended?: MendedCalls | undefined;
}

/** What chunks of chat and of completions have different. */
export interface ChunkForm {
  /** Value of their member `object`. */
  readonly object: string;
  reader(maxEventBytes: number, tap: EventTap): ChunkReader;
  cut(data: string, choices: readonly unknown[]): CutChunk;
  /** How streams with usage have begun, and those without. */
  readonly envelopes: { readonly withUsage: FormsOfModels; readonly without: FormsOfModels };
  /** Shapes of events that report usage. */
  readonly shapes: Shapes;
}

/** What the streams of a dialect have in common is learned apart from others. */
export const newChunkMemory = (): Pick<ChunkForm, "envelopes" | "shapes"> => ({
  envelopes: { withUsage: new FormsOfModels(), without: new FormsOfModels() },
  shapes: new Shapes(["object", "service_tier"], ["choices", "usage", ...SET_MEMBERS]),
});

const CHUNK_MEMBERS: readonly string[] = ["id", "object", "created", "model", "choices"];

/** Chunks of chat, of which nothing is learned yet. */
export const newChatChunks = (): ChunkForm => ({
  object: "chat.completion.chunk",
  reader: (maxEventBytes, tap) => new ChatStreamReader(maxEventBytes, tap),
  cut: cutChunk,
  ...newChunkMemory(),
});

const CHAT_CHUNKS = newChatChunks();

const choicesMemory = new ChoicesMemory();

export class ChatSpliceStream extends SplicedStream {
  protected readonly reader: ChunkReader;
  readonly #form: ChunkForm;
  readonly #identity: AnswerIdentity;
  /** False: the client wants no usage; `usage` members and the last chunk are left out. */
  readonly #includeUsage: boolean;
  /** The client asked for one answer: its finish reason waits for the settlement. */
  readonly #isOnly: boolean;
  readonly #idJson: string;
  readonly #modelJson: string;
  readonly #forms: EnvelopeForms;
  /** The forms know how the stream began. */
  #hasTold = false;
  #events = 0;
  #envelope: Envelope | undefined;
  /** How the current event fits the envelope, or its text and the positions of its members. */
  #enclosed: Enclosed | undefined;
  #text = "";
  #members = NO_MEMBERS;
  /** The finish reason and the last events: sent after the settlement. */
  #last = "";
  #holding = false;
  /** The last usage report that was looked for in an event's text. */
  #reported: Usage | undefined;
  /** The last report as the upstream wrote it, with its own details. */
  #usageJson: string | undefined;
  /** The upstream's event that has usage and no choices, from which the last chunk is made, and its members. */
  #usageChunk: string | undefined;
  #usageMembers = NO_MEMBERS;
  #created = 0;

  constructor(
    { includeUsage, facts }: Pick<ChatRequest, "includeUsage" | "facts">,
    identity: AnswerIdentity,
    form: ChunkForm = CHAT_CHUNKS,
  ) {
    super(identity);
    this.#form = form;
    this.#identity = identity;
    this.#includeUsage = includeUsage !== false;
    this.#isOnly = facts.choices === 1;
    this.#idJson = quotedId(identity.id);
    this.#modelJson = quotedName(identity.model);
    this.#forms = form.envelopes[this.#includeUsage ? "withUsage" : "without"].of(identity.model);
    this.reader = form.reader(identity.maxEventBytes, this);
  }

  /** Events without text count, too: the client gets them. */
  override get events(): number {
    return this.#events;
  }

  override grewBy(part: PartPlace, read: Buffer, start: number, end: number, events: number): void {
    this.#events += events;
    super.grewBy(part, read, start, end, events);
  }

  override grewByText(part: PartPlace, text: Fragment): void {
    this.#events++;
    super.grewByText(part, text);
  }

  parse(data: string): JsonObject | undefined {
    const enclosed = this.#envelope && enclosedIn(this.#envelope, data);
    const choices = enclosed && choicesMemory.read(enclosed.choices);
    if (choices !== undefined && choices.length > 0) {
      this.#enclosed = enclosed;
      return { choices };
    }
    this.#enclosed = undefined;
    return this.#open(data) ?? this.#parseWhole(data);
  }

  /** An event that is as those were with which earlier streams have begun. */
  #open(data: string): JsonObject | undefined {
    const opened = this.#forms.opened(data, this.#idJson);
    const choices = opened && choicesMemory.read(opened.enclosed.choices);
    if (opened === undefined || choices === undefined || choices.length === 0) return undefined;
    const { envelope, enclosed, members } = opened;
    this.#envelope = envelope;
    this.#enclosed = enclosed;
    this.#hasTold = true;
    this.#noted(members.created);
    return { ...members, choices };
  }

  #parseWhole(data: string): JsonObject | undefined {
    this.#text = data.includes("\n") ? data.replaceAll("\n", " ") : data;
    const read = readWhole(this.#text, data, this.#form.shapes);
    this.#members = read?.members ?? NO_MEMBERS;
    return read?.event;
  }

  /** The text sent after the settlement: held events, the usage chunk, `[DONE]`. */
  close(usage: Usage, svc: SvcReply): string {
    const last = this.rest() + this.#last;
    if (!this.#includeUsage) return `${last}data: [DONE]\n\n`;
    return `${last}${sseData(this.#usageText(usage, svc))}data: [DONE]\n\n`;
  }

  protected pass(data: string, _type: string, event: JsonObject): Passed | undefined {
    const choices = listOf(event.choices);
    const { usage } = this.capture;
    const isReport = usage !== this.#reported;
    this.#reported = usage;
    if (this.#enclosed !== undefined && this.#envelope !== undefined) {
      const { choices: inside, tailAt } = this.#enclosed;
      // A slice of the read, which it would keep alive until the next event.
      this.#enclosed = undefined;
      const { head, headOut, tail, tailOut } = this.#envelope;
      const behind = tailAt + tail.length;
      if (isReport) this.#usageJson = undefined;
      const edits = [
        { start: 0, end: head.length, text: headOut },
        { start: tailAt, end: behind, text: tailOut },
      ];
      if (this.reader.mended !== undefined) return this.#passPatched(data, choices, edits);
      return this.#passChoices(headOut + inside + tailOut + data.slice(behind), choices, edits);
    }
    const text = this.#text;
    const members = this.#members;
    // Slices of the read, which they would keep alive while a slow client pauses the stream.
    this.#text = "";
    this.#members = NO_MEMBERS;
    this.#noteCreated(event.created);
    if (isReport) this.#report(event.usage, text, members);
    if (choices.length > 0) {
      const edits = this.#edits(data, members);
      if (!isReport) this.#enclose(data, { event, members, edits });
      return this.#passPatched(data, choices, edits);
    }
    if (event.usage !== undefined && event.usage !== null) {
      this.#usageChunk = copied(text);
      this.#usageMembers = members;
    }
    // Some servers begin with an empty chunk (Azure's content filter results), which is passed on. An event without a
    // `choices` member is no chunk, and clients would fail on it.
    else if (Array.isArray(event.choices)) this.#passEmpty(applyEdits(data, this.#edits(data, members)));
    return undefined;
  }

  /** @param edits those that its data were patched with */
  #passChoices(patched: string, choices: readonly unknown[], edits: readonly Edit[]): Passed | undefined {
    this.#events++;
    if (this.#isOnly && this.reader.complete) this.#holding = true;
    if (!this.#holding) {
      this.add(sseData(patched));
      return { head: HEAD, edits };
    }
    // The event has the finish reason or comes after it: its text is sent at once.
    const { now, later } = this.#form.cut(patched, choices);
    if (now !== "") {
      // It may have content that the neutral contract has no place for.
      this.begin();
      this.add(sseData(now));
    }
    if (later !== "") this.#hold(later);
    return undefined;
  }

  #passPatched(data: string, choices: readonly unknown[], edits: readonly Edit[]): Passed | undefined {
    const { mended } = this.reader;
    const all =
      mended === undefined ? edits : [...edits, ...chunkEdits(data, mended, this.#identity.requestId)];
    return this.#passChoices(applyEdits(data, all), choices, all);
  }

  #passEmpty(patched: string): void {
    this.#events++;
    if (this.#holding) this.#hold(patched);
    else this.add(sseData(patched));
  }

  #hold(data: string): void {
    this.#last = waiting(this.#last, copied(sseData(data)));
  }

  #noteCreated(created: unknown): void {
    // The envelope has the earlier `created`: its events would pass without setting this one.
    if (this.#noted(created)) this.#envelope = undefined;
  }

  /** @returns whether the time is another than before */
  #noted(created: unknown): boolean {
    if (typeof created !== "number" || created === this.#created) return false;
    this.#created = created;
    return true;
  }

  #enclose(text: string, { event, members, edits }: Pick<LearnedEvent, "event" | "members" | "edits">): void {
    const choices = memberOf(members, "choices");
    this.#envelope = choices && envelopeOf(text, members, choices, edits);
    if (this.#envelope === undefined || this.#hasTold) return;
    this.#hasTold = true;
    this.#forms.learn({ text, event, members, edits, isPadded: this.#envelope.padded });
  }

  /** Reports are cumulative: the last one counts, they are never added up. */
  #report(usage: unknown, text: string, members: readonly Member[]): void {
    const member = readChatUsage(usage) === undefined ? undefined : memberOf(members, "usage");
    this.#usageJson = member && copied(text.slice(member.valueStart, member.valueEnd));
  }

  #edits(text: string, members: readonly Member[]): Edit[] {
    const edits = [
      setMember(text, members, "id", this.#idJson),
      setMember(text, members, "model", this.#modelJson),
    ];
    if (!this.#includeUsage) edits.push(...removeMembers(members, ["usage"]));
    // A usage report on a chunk with choices moves to the last chunk: the others have null (T1).
    else edits.push(setMember(text, members, "usage", "null"));
    return edits;
  }

  #usageText(usage: Usage, svc: SvcReply): string {
    const { id, model } = this.#identity;
    const usageJson = this.#usageJson ?? JSON.stringify(writeChatUsage(usage));
    const text = this.#usageChunk;
    if (text === undefined) {
      const head = latin1Json({
        id,
        object: this.#form.object,
        created: this.#created,
        model,
        choices: [],
      });
      return `${head.slice(0, -1)},"usage":${usageJson},"svc":${svcJson(svc)}}`;
    }
    const members = this.#usageMembers;
    return applyEdits(text, [
      setMember(text, members, "id", this.#idJson),
      setMember(text, members, "model", this.#modelJson),
      setMember(text, members, "choices", "[]"),
      setMember(text, members, "usage", usageJson),
      setMember(text, members, "svc", svcJson(svc)),
    ]);
  }
}

/** @param text the data on one line. @returns undefined if it is no JSON object */
function readWhole(
  text: string,
  data: string,
  shapes: Shapes,
): { readonly event: JsonObject; readonly members: readonly Member[] } | undefined {
  const bytes = Buffer.from(text, "latin1");
  const signs = signsOf(bytes);
  // A line feed between two lines may stand within a string, which is no JSON then.
  const shape = signs.isAscii && text === data ? shapes.of(bytes, signs) : undefined;
  if (shape !== undefined) return { event: shape.value as JsonObject, members: shape.members() };
  try {
    const { members } = skim(text, "", UNBOUNDED, bytes, signs);
    const event = parsed(data);
    if (event === undefined) return undefined;
    if (signs.isAscii && isReport(event))
      shapes.learn(bytes, signs, () => parsed(data) as JsonObject, members);
    return { event, members };
  } catch {
    return undefined;
  }
}

/** Members of a report in which no other string is read than those that its shape gives. */
const REPORT_MEMBERS: readonly string[] = [...CHUNK_MEMBERS, "usage", "system_fingerprint", "service_tier"];

/** Whether an event reports usage and has nothing else. */
const isReport = (event: JsonObject): boolean =>
  Array.isArray(event.choices) &&
  event.choices.length === 0 &&
  isObject(event.usage) &&
  Object.keys(event).every((name) => REPORT_MEMBERS.includes(name));
