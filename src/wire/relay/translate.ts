/**
 * Translation between any two ends of a generation: the client's format and the upstream's dialect meet in the neutral
 * contract, so a pair needs no code of its own.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { fail, WeirError } from "../../base/errors.ts";
import type { Usage } from "../../base/usage.ts";
import { AnswerIds, type CallBegin } from "../accepts/made-ids.ts";
import { accepted, type Fitted } from "../accepts/request.ts";
import { sentOf } from "../extras/sent.ts";
import { withoutUnpriced } from "../extras/translated.ts";
import {
  type AnswerIdentity,
  type ClientRequest,
  type GenerationDialect,
  type GenerationFormat,
  NO_ORG_KEY,
  type OrgKey,
  type OwnTools,
  type Passage,
  type StreamWriter,
} from "../format.ts";
import { placing } from "../json/json-text.ts";
import { carriedSpans } from "../json/opaque.ts";
import { wellFormedJson } from "../json/surrogates.ts";
import { withFittedMedia } from "../media/fit.ts";
import { type TakesMedia, withoutLostMedia } from "../media/made.ts";
import { withTextFiles } from "../media/text-files.ts";
import { refuseUnseen } from "../media/unseen.ts";
import type { ReplyFacts, SvcReply } from "../neutral/contract.ts";
import type { NeutralChoice, NeutralReply, NeutralRequest, StreamEvent } from "../neutral/neutral.ts";
import type { StreamReader } from "../neutral/reader.ts";
import { bytesOf, Source, unmarked } from "../neutral/source.ts";
import { checkWaiting } from "../neutral/sse.ts";
import { refuseCrowdedCalls } from "../neutral/tool-arguments.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { FUNCTIONS_ONLY, lowered } from "../tool-kinds/lowered.ts";
import { RaisedStream, raisedReply, withKinds } from "../tool-kinds/raised.ts";
import { textBytesOf } from "./capture.ts";
import { CapturedStream } from "./captured-stream.ts";
import { isContent } from "./content.ts";
import { withFeatures } from "./features.ts";
import { limited } from "./lowered.ts";
import { MendedEvents, needsMending } from "./mended-events.ts";
import { notReplaced, optionsFor } from "./provider-options.ts";
import { fitted } from "./quirks.ts";

export const translated = <R extends ClientRequest>(
  format: GenerationFormat<R>,
  dialect: GenerationDialect,
): Passage<R> => ({
  write(request, endpoint, billed = "platform", orgKey = NO_ORG_KEY) {
    const source = sourceOf(format, request);
    const { written, texts, ownTools } = quotingNoMarks(() => {
      const told = toldOf(format, request, dialect, endpoint, orgKey, source);
      const { value, texts } = placing(() => dialect.writeRequest(told.request, endpoint));
      return { written: value, texts, ownTools: told.ownTools };
    });
    const featured = withFeatures(written, request, dialect, endpoint, billed);
    const priced = withoutUnpriced(featured.written, request, endpoint, dialect.name, billed);
    const options = optionsFor(request.svc, endpoint, dialect.name, billed, priced.kept);
    const { body, dropped } = fitted(priced, options, endpoint.provider, dialect.name);
    const parts = bytesOf(request.bytes, source.piecesOf(body, texts));
    return {
      parts,
      dropped: dropped.map((pointer) => pointer.slice(0, MAX_POINTER)),
      extras: sentOf(
        [...notReplaced(priced.kept, options), ...options.kept],
        [...featured.unpriced, ...priced.unpriced, ...options.unpriced],
      ),
      ...(ownTools !== undefined && { ownTools }),
    };
  },
  restating: dialect.restating,
  whole(body, request, identity, own) {
    const read = dialect.readReply(parseReply(body, dialect.carries));
    const { reply, lost } =
      own === undefined && read.choices.every(isPlain)
        ? { reply: read, lost: undefined }
        : withoutLostMedia(raisedReply(new AnswerIds(identity.requestId).ofReply(read), own), format);
    return {
      facts: lost === undefined ? factsOf(reply) : { ...factsOf(reply), lost },
      error: reply.error,
      write: (usage, svc) =>
        Buffer.from(wellFormedJson(format.writeReply(reply, request, identity, usage, svc))),
    };
  },
  stream(request, identity, own) {
    return new TranslatedStream(
      dialect.streamReader(identity.maxEventBytes),
      format.streamWriter(request, identity),
      identity,
      own,
      format,
    );
  },
});

/** Most answers are told as they were read: no part of them needs an id, another kind of call, or a place for media. */
function isPlain({ parts }: NeutralChoice): boolean {
  let before: Set<string> | undefined;
  for (const part of parts) {
    if (part.type === "media") return false;
    if (part.type !== "tool_call") continue;
    if (part.id === "" || part.kind === "custom" || before?.has(part.id)) return false;
    before ??= new Set();
    before.add(part.id);
  }
  return true;
}

/** A name in a client's body may be as long as the body, and pointers go into answers and records. */
const MAX_POINTER = 300;

/** Errors quote the client's text: marks are removed from it. */
export function quotingNoMarks<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof WeirError) || unmarked(error.message) === error.message) throw error;
    const { kind, message, param, details } = error;
    throw fail(kind, unmarked(message), { ...(param && { param }), ...(details && { details }) });
  }
}

/** The body of a request for a generation: what the format only carries stays text. */
export const sourceOf = <R extends ClientRequest>(
  { carries }: Pick<GenerationFormat<R>, "carries">,
  { bytes, members, elided, fetched }: R,
): Source => new Source(bytes, elided, carriedSpans(bytes, members, carries), fetched);

type Told = Pick<
  GenerationDialect,
  "name" | "takesAssistantMedia" | "takesOnlyData" | "takesTextFiles" | "toolKinds"
>;

/** A request in neutral terms, as an upstream of the dialect accepts it. */
export const toldOf = <R extends ClientRequest>(
  format: GenerationFormat<R>,
  request: R,
  { name, takesAssistantMedia, takesOnlyData, takesTextFiles, toolKinds }: Told,
  endpoint: Endpoint,
  orgKey: OrgKey,
  source: Source,
): Fitted => {
  const read = neutralOf(format, request, source);
  const media = withFittedMedia(read, source, takesAssistantMedia === true, takesOnlyData);
  // Most requests have no media, and are returned as they are.
  if (media !== read) refuseUnseen(media.messages, endpoint.capabilities);
  const neutral = lowered(media, toolKinds ?? FUNCTIONS_ONLY, source);
  const fit = accepted(neutral, name, endpoint, orgKey, source);
  // After blank texts are left out: data are not looked into.
  const told = takesTextFiles === true && media !== read ? withFiles(fit, source) : fit;
  const ownTools = withKinds(told.ownTools, neutral.tools, told.request.tools);
  return ownTools === told.ownTools ? told : { ...told, ownTools };
};

const withFiles = (fit: Fitted, source: Source): Fitted => ({
  ...fit,
  request: { ...fit.request, messages: withTextFiles(fit.request.messages, source) },
});

/** A request in neutral terms. */
function neutralOf<R extends ClientRequest>(
  format: GenerationFormat<R>,
  request: R,
  source: Source,
): NeutralRequest {
  const neutral = limited(format.neutral(request, source), request);
  refuseCrowdedCalls(neutral.messages);
  return neutral;
}

function factsOf(reply: NeutralReply): ReplyFacts {
  const { choices, usage, report } = reply;
  let toolCalls = 0;
  for (const { parts } of choices) {
    for (const { type } of parts) if (type === "tool_call") toolCalls++;
  }
  // Counted only if the upstream reported no usage: a whole answer needs it for nothing else.
  const outputBytes = usage === undefined ? textBytesOf(reply) : 0;
  const stopReason = choices[0]?.stop.reason ?? "";
  return { usage, stopReason, toolCalls, outputBytes, unreportedBytes: outputBytes, report };
}

class TranslatedStream extends CapturedStream {
  protected readonly reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #requestId: string;
  /** Undefined until a call begins. */
  #ids: AnswerIds | undefined;
  /** Undefined until an event needs it. */
  #mended: MendedEvents | undefined;
  /** Undefined while every event is told as it was read. */
  #raised: RaisedStream | undefined;
  readonly #format: TakesMedia;
  #lost: Set<string> | undefined;
  /** Content has come. Before it, another endpoint can answer instead if the upstream fails (T14). */
  #begun = false;

  constructor(
    reader: StreamReader,
    writer: StreamWriter,
    { maxCaptureBytes, requestId }: AnswerIdentity,
    own: OwnTools | undefined,
    format: TakesMedia,
  ) {
    super(maxCaptureBytes);
    this.reader = reader;
    this.#writer = writer;
    this.#requestId = requestId;
    this.#raised = own && new RaisedStream(own);
    this.#format = format;
  }

  override get facts(): ReplyFacts {
    return this.#lost === undefined ? super.facts : { ...super.facts, lost: [...this.#lost] };
  }

  get nextSequence(): number | undefined {
    return this.#begun ? this.#writer.nextSequence : undefined;
  }

  responseJson(): string | undefined {
    return this.#writer.responseJson?.();
  }

  close(usage: Usage, svc: SvcReply): string {
    return this.out + this.#writer.close(usage, svc);
  }

  protected override take(event: StreamEvent): void {
    if (this.#mended === undefined && !needsMending(event)) this.#raise(event);
    else {
      this.#mended ??= new MendedEvents(
        (mended) => this.#raise(mended),
        (tell) => this.capture.late(tell),
      );
      this.#mended.take(event);
    }
  }

  #raise(read: StreamEvent): void {
    // Almost every event of a stream.
    if (read.type === "delta" && this.#raised === undefined) {
      this.#delta(read);
      return;
    }
    const event = read.type === "begin" && read.kind === "tool_call" ? this.#named(read) : read;
    if (isOfCustom(event)) this.#raised ??= new RaisedStream();
    if (this.#raised === undefined) this.#told(event);
    else this.#raised.take(event, (raised) => this.#told(raised));
  }

  #named(event: CallBegin): CallBegin {
    this.#ids ??= new AnswerIds(this.#requestId);
    return this.#ids.of(event);
  }

  #delta(event: Extract<StreamEvent, { type: "delta" }>): void {
    this.#begun = true;
    this.capture.grow(event.choice, event.part, event.text);
    this.out += this.#writer.write(event);
  }

  #told(event: StreamEvent): void {
    if (!this.#begun && isContent(event)) this.#begun = true;
    this.capture.take(event);
    if (event.type === "media" && this.#format.takesMedia?.(event.media) !== true) {
      this.#lost ??= new Set();
      this.#lost.add(event.media.kind);
    } else this.out += this.#writer.write(event);
  }

  protected override flush(): Buffer {
    if (this.#begun) return super.flush();
    checkWaiting(this.out);
    return NOTHING;
  }
}

const NOTHING = Buffer.alloc(0);

const isOfCustom = (event: StreamEvent): boolean =>
  event.type === "begin" && event.kind === "tool_call" && event.tool === "custom";
