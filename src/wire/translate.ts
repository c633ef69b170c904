/**
 * Translation between any two ends of a generation: the client's format and the upstream's dialect meet in the neutral
 * contract, so a pair needs no code of its own.
 */
import type { Usage } from "../usage.ts";
import { NeutralCapture } from "./capture.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "./contract.ts";
import type {
  AnswerIdentity,
  AnswerStream,
  ClientRequest,
  GenerationDialect,
  GenerationFormat,
  Passage,
  StreamWriter,
  WholeAnswer,
} from "./format.ts";
import { fragmentOf } from "./fragment.ts";
import type { NeutralReply, NeutralRequest, StreamEvent } from "./neutral.ts";
import { fitted } from "./quirks.ts";
import type { StreamReader } from "./reader.ts";
import { bytesOf, Source } from "./source.ts";
import { parseReply } from "./upstream-reply.ts";

export const translated = <R extends ClientRequest>(
  format: GenerationFormat<R>,
  dialect: GenerationDialect,
): Passage<R> => ({
  write(request, endpoint) {
    const source = new Source(request.bytes, request.elided);
    const written = dialect.writeRequest(neutralOf(format, request, source), endpoint);
    const { body, dropped } = fitted(written, request.svc, endpoint.provider, dialect.name);
    return { parts: bytesOf(request.bytes, source.piecesOf(JSON.stringify(body))), dropped };
  },
  whole(body, request, identity) {
    return new TranslatedAnswer(format, dialect.readReply(parseReply(body)), request, identity);
  },
  stream(request, identity) {
    return new TranslatedStream(
      dialect.streamReader(identity.maxEventBytes),
      format.streamWriter(request, identity),
      identity.maxCaptureBytes,
    );
  },
});

/** A request in neutral terms. Its output schema is whole: some dialects carry it as JSON inside a string. */
export function neutralOf<R extends ClientRequest>(
  format: GenerationFormat<R>,
  request: R,
  source: Source,
): NeutralRequest {
  const neutral = format.neutral(request, source);
  const said = neutral.options.format;
  if (said?.value.type !== "json_schema") return neutral;
  const value = { ...said.value, schema: source.wholeValue(said.value.schema) };
  return { ...neutral, options: { ...neutral.options, format: { value, at: said.at } } };
}

class TranslatedAnswer<R extends ClientRequest> implements WholeAnswer {
  readonly facts: ReplyFacts;
  readonly error: UpstreamError | undefined;
  readonly #format: GenerationFormat<R>;
  readonly #reply: NeutralReply;
  readonly #request: R;
  readonly #identity: AnswerIdentity;

  constructor(format: GenerationFormat<R>, reply: NeutralReply, request: R, identity: AnswerIdentity) {
    this.#format = format;
    this.#reply = reply;
    this.#request = request;
    this.#identity = identity;
    this.error = reply.error;
    this.facts = factsOf(reply);
  }

  write(usage: Usage, svc: SvcReply): Buffer {
    return Buffer.from(this.#format.writeReply(this.#reply, this.#request, this.#identity, usage, svc));
  }
}

function factsOf({ choices, usage }: NeutralReply): ReplyFacts {
  let outputBytes = 0;
  let toolCalls = 0;
  for (const { parts } of choices) {
    for (const part of parts) {
      if (part.type === "tool_call") toolCalls++;
      // Counted only where the upstream did not: of a whole answer nothing else asks for it.
      if (usage === undefined)
        outputBytes += fragmentOf(part.type === "tool_call" ? part.arguments : part.text).length;
    }
  }
  const stopReason = choices[0]?.stop.reason ?? "";
  return { usage, stopReason, toolCalls, outputBytes, unreportedBytes: outputBytes };
}

class TranslatedStream implements AnswerStream {
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #capture: NeutralCapture;
  readonly #emit = (event: StreamEvent) => this.#take(event);
  #out = "";
  /** Content has come: until then an error of the upstream's may still be cured by another endpoint (T14). */
  #begun = false;

  constructor(reader: StreamReader, writer: StreamWriter, maxCaptureBytes: number) {
    this.#reader = reader;
    this.#writer = writer;
    this.#capture = new NeutralCapture(maxCaptureBytes);
  }

  get done(): boolean {
    return this.#reader.done;
  }

  get complete(): boolean {
    return this.#reader.complete;
  }

  get error(): UpstreamError | undefined {
    return this.#reader.error;
  }

  get malformed(): number {
    return this.#reader.malformed;
  }

  get events(): number {
    return this.#capture.events;
  }

  get textBytes(): number {
    return this.#capture.textBytes;
  }

  get facts(): ReplyFacts {
    return this.#capture.facts;
  }

  kept(): Buffer | undefined {
    return this.#capture.json();
  }

  responseJson(): string | undefined {
    return this.#writer.responseJson?.();
  }

  push(read: string): string {
    this.#reader.push(read, this.#emit);
    return this.#flush();
  }

  end(): string {
    this.#reader.end(this.#emit);
    return this.#flush();
  }

  close(usage: Usage, svc: SvcReply): string {
    return this.#out + this.#writer.close(usage, svc);
  }

  #take(event: StreamEvent): void {
    if (event.type !== "usage") this.#begun = true;
    this.#capture.take(event);
    this.#out += this.#writer.write(event);
  }

  #flush(): string {
    if (!this.#begun) return "";
    const out = this.#out;
    this.#out = "";
    return out;
  }
}
