/**
 * Translation between the embedding formats and dialects: both ends meet in the neutral contract, no pair has its own code.
 */
import { fail } from "../../base/errors.ts";
import type { Usage } from "../../base/usage.ts";
import { sentOf } from "../extras/sent.ts";
import type { AnswerIdentity, Passage, WholeAnswer } from "../format.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../neutral/contract.ts";
import { bytesOf, Source } from "../neutral/source.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { optionsFor } from "../relay/provider-options.ts";
import { fitted } from "../relay/quirks.ts";
import {
  type EmbedDialect,
  type EmbedFormat,
  type EmbedRequest,
  type NeutralEmbedReply,
  vectorEncoding,
} from "./neutral.ts";
import { answerFacts, noStream } from "./task.ts";
import { encoded } from "./vectors.ts";

export const translatedEmbeddings = (format: EmbedFormat, dialect: EmbedDialect): Passage<EmbedRequest> => ({
  write(request, endpoint, billed = "platform") {
    const source = new Source(request.bytes, request.elided);
    const written = dialect.writeRequest(format.neutral(request, source), endpoint);
    const options = optionsFor(request.svc, endpoint, dialect.name, billed);
    const { body, dropped } = fitted(written, options, endpoint.provider, dialect.name);
    const parts = bytesOf(request.bytes, source.piecesOf(JSON.stringify(body)));
    return { parts, dropped, extras: sentOf(options.kept, options.unpriced) };
  },
  whole(body, request, identity) {
    const read = dialect.readReply(parseReply(body));
    // Here and not where it is written: a vector that cannot be read must still let another endpoint answer.
    const vectors = read.vectors.map((vector) => encoded(vector, vectorEncoding(request)));
    const reply: NeutralEmbedReply = { ...read, vectors };
    // A client takes the vectors for those of its inputs, one by one.
    if (reply.error === undefined && reply.vectors.length !== request.inputs) {
      throw fail(
        "upstream_invalid_response",
        `The provider answered with ${reply.vectors.length} vectors for ${request.inputs} inputs.`,
      );
    }
    return new TranslatedEmbeddings(format, reply, identity, body.length);
  },
  stream() {
    throw noStream();
  },
});

class TranslatedEmbeddings implements WholeAnswer {
  readonly facts: ReplyFacts;
  readonly error: UpstreamError | undefined;
  readonly #format: EmbedFormat;
  readonly #reply: NeutralEmbedReply;
  readonly #identity: AnswerIdentity;

  constructor(format: EmbedFormat, reply: NeutralEmbedReply, identity: AnswerIdentity, answerBytes: number) {
    this.#format = format;
    this.#reply = reply;
    this.#identity = identity;
    this.error = reply.error;
    this.facts = answerFacts(reply.usage, reply.error === undefined ? answerBytes : 0);
  }

  write(usage: Usage, svc: SvcReply): Buffer {
    return Buffer.from(this.#format.writeReply(this.#reply, this.#identity, usage, svc));
  }
}
