/**
 * Translation between the embedding formats and dialects: both ends meet in the neutral contract, no pair has its own code.
 */
import { fail } from "../../base/errors.ts";
import type { Passage } from "../format.ts";
import { type JsonObject, objectOf } from "../neutral/reader.ts";
import { Source } from "../neutral/source.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import {
  type EmbedDialect,
  type EmbedFormat,
  type EmbedRequest,
  type NeutralEmbedReply,
  vectorEncoding,
} from "./neutral.ts";
import { errorIn } from "./read-reply.ts";
import { answerFacts, fittedTo, noStream } from "./task.ts";
import { encoded } from "./vectors.ts";

export const translatedEmbeddings = (format: EmbedFormat, dialect: EmbedDialect): Passage<EmbedRequest> => ({
  write(request, endpoint, billed = "platform") {
    const source = new Source(request.bytes, request.elided);
    const written = dialect.writeRequest(format.neutral(request, source), endpoint);
    return fittedTo(endpoint, dialect.name, billed, request, source, written);
  },
  whole(bytes, request, identity) {
    const body = objectOf(parseReply(bytes));
    const error = errorIn(body);
    const reply = error === undefined ? readReply(dialect, body, request) : NO_REPLY;
    return {
      facts: answerFacts(reply.usage, error === undefined ? bytes.length : 0),
      error,
      write: (usage, svc) => Buffer.from(format.writeReply(reply, identity, usage, svc)),
    };
  },
  stream() {
    throw noStream();
  },
});

const NO_REPLY: NeutralEmbedReply = { vectors: [], usage: undefined };

/** Here and not where it is written: a vector that cannot be read must still let another endpoint answer. */
function readReply(dialect: EmbedDialect, body: JsonObject, request: EmbedRequest): NeutralEmbedReply {
  const read = dialect.readReply(body);
  const vectors = read.vectors.map((vector) => encoded(vector, vectorEncoding(request)));
  // A client takes the vectors for those of its inputs, one by one.
  if (vectors.length !== request.inputs) {
    const message = `The provider answered with ${vectors.length} vectors for ${request.inputs} inputs.`;
    throw fail("upstream_invalid_response", message);
  }
  return { ...read, vectors };
}
