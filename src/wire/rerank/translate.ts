/** From our format of rankings to any dialect's and back. */
import { errorIn } from "../embed/read-reply.ts";
import { answerFacts, fittedTo, noStream } from "../embed/task.ts";
import type { Passage } from "../format.ts";
import { objectOf } from "../neutral/reader.ts";
import { Source } from "../neutral/source.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import type { NeutralRerankReply, RerankDialect, RerankRequest } from "./neutral.ts";
import { rerankNeutral } from "./neutral-request.ts";
import { noRanking } from "./read-reply.ts";
import { writeRerankReply } from "./write-reply.ts";

export const translatedRerank = (dialect: RerankDialect): Passage<RerankRequest> => ({
  write(request, endpoint, billed = "platform") {
    const source = new Source(request.bytes, request.elided);
    const written = { body: dialect.writeRequest(rerankNeutral(request, source), endpoint), dropped: [] };
    return fittedTo(endpoint, dialect.name, billed, request, source, written);
  },
  whole(bytes, request, identity) {
    const body = objectOf(parseReply(bytes));
    const error = errorIn(body);
    const reply = error === undefined ? dialect.readReply(body) : NO_REPLY;
    if (error === undefined) checkPlaces(reply, request);
    const facts = answerFacts(reply.usage, error === undefined ? bytes.length : 0);
    return {
      facts,
      error,
      write: (usage, svc) => writeRerankReply(reply, request, identity, facts, usage, svc),
    };
  },
  stream() {
    throw noStream();
  },
});

const NO_REPLY: NeutralRerankReply = { results: [], usage: undefined };

/** There are some, each of a document of the request's, no two of one. @throws WeirError `upstream_invalid_response` */
function checkPlaces({ results }: NeutralRerankReply, { documents }: RerankRequest): void {
  if (results.length === 0) throw noRanking();
  const seen = new Set<number>();
  for (const { index } of results) {
    if (!Number.isInteger(index) || index < 0 || index >= documents || seen.has(index)) throw noRanking();
    seen.add(index);
  }
}
