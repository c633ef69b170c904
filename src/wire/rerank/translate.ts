/** From our format of rankings to any dialect's and back. */
import type { Usage } from "../../base/usage.ts";
import { answerFacts, noStream } from "../embed/task.ts";
import { sentOf } from "../extras/sent.ts";
import type { AnswerIdentity, Passage, WholeAnswer } from "../format.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../neutral/contract.ts";
import { bytesOf, Source } from "../neutral/source.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { optionsFor } from "../relay/provider-options.ts";
import { fitted } from "../relay/quirks.ts";
import type { NeutralRerankReply, RerankDialect, RerankRequest } from "./neutral.ts";
import { rerankNeutral } from "./neutral-request.ts";
import { noRanking } from "./read-reply.ts";
import { writeRerankReply } from "./write-reply.ts";

export const translatedRerank = (dialect: RerankDialect): Passage<RerankRequest> => ({
  write(request, endpoint, billed = "platform") {
    const source = new Source(request.bytes, request.elided);
    const written = { body: dialect.writeRequest(rerankNeutral(request, source), endpoint), dropped: [] };
    const options = optionsFor(request.svc, endpoint, dialect.name, billed);
    const { body, dropped } = fitted(written, options, endpoint.provider, dialect.name);
    const parts = bytesOf(request.bytes, source.piecesOf(JSON.stringify(body)));
    return { parts, dropped, extras: sentOf(options.kept, options.unpriced) };
  },
  whole(body, request, identity) {
    const reply = dialect.readReply(parseReply(body));
    checkPlaces(reply, request);
    return new RerankAnswer(reply, request, identity, body.length);
  },
  stream() {
    throw noStream();
  },
});

/** Each result is of a document of the request's, no two of one. @throws WeirError `upstream_invalid_response` */
function checkPlaces({ results }: NeutralRerankReply, { documents }: RerankRequest): void {
  const seen = new Set<number>();
  for (const { index } of results) {
    if (!Number.isInteger(index) || index < 0 || index >= documents || seen.has(index)) throw noRanking();
    seen.add(index);
  }
}

class RerankAnswer implements WholeAnswer {
  readonly facts: ReplyFacts;
  readonly error: UpstreamError | undefined;
  readonly #reply: NeutralRerankReply;
  readonly #request: RerankRequest;
  readonly #identity: AnswerIdentity;

  constructor(
    reply: NeutralRerankReply,
    request: RerankRequest,
    identity: AnswerIdentity,
    answerBytes: number,
  ) {
    this.#reply = reply;
    this.#request = request;
    this.#identity = identity;
    this.error = reply.error;
    this.facts = answerFacts(reply.usage, reply.error === undefined ? answerBytes : 0);
  }

  write(usage: Usage, svc: SvcReply): Buffer {
    return writeRerankReply(this.#reply, this.#request, this.#identity, this.facts, usage, svc);
  }
}
