/** Reads the body of a ranking as far as every call needs it. */
import { type BodyRules, promptTextsOf, readBody } from "../body.ts";
import { factsOf, longStringsIn, refuseStream } from "../embed/task.ts";
import { estimatePromptTokens } from "../estimate.ts";
import type { PromptText } from "../format.ts";
import { type Member, memberOf } from "../json/json.ts";
import type { Elided } from "../json/skeleton.ts";
import { NATIVE_OPTIONS } from "../svc-schema.ts";
import type { RerankRequest } from "./neutral.ts";
import { type RerankBody, rerankRequestSchema } from "./schema.ts";
import { pairedTokens, searchUnitBound } from "./units.ts";

/** Members that no model gets to read. */
const NO_PROMPT: readonly string[] = ["model", "top_n", "return_documents", "stream", ...NATIVE_OPTIONS];

const RULES: BodyRules<RerankBody> = {
  schema: rerankRequestSchema,
  ours: NATIVE_OPTIONS,
  svcOf: (body) => body,
  noPrompt: NO_PROMPT,
  media: [],
};

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readRerankRequest(bytes: Buffer): RerankRequest {
  const { read, text, value: body } = readBody(bytes, RULES);
  const { members, elided } = read;
  refuseStream(text, members);
  const queryBytes = lengthsIn([body.query], elided, members, "query").reduce(sum, 0);
  const lengths = lengthsIn(body.documents, elided, members, "documents");
  const documents = body.documents.length;
  const longest = lengths.reduce((most, bytes) => Math.max(most, bytes), 0);
  return {
    ...read,
    // No tokenizer counts as rerankers do, who read the query once a document.
    hasOpaque: true,
    documents,
    topN: body.top_n ?? undefined,
    returnDocuments: body.return_documents ?? false,
    facts: factsOf(
      body.model,
      pairedTokens(queryBytes, lengths.reduce(sum, 0), documents),
      estimatePromptTokens(queryBytes + longest, 0),
      searchUnitBound(queryBytes, lengths),
    ),
  };
}

const sum = (a: number, b: number): number => a + b;

/** In bytes, in no order: the short strings are in the skeleton, where the long ones are empty. */
function lengthsIn(
  strings: readonly string[],
  elided: readonly Elided[],
  members: readonly Member[],
  key: string,
): number[] {
  const long = longStringsIn(elided, memberOf(members, key) as Member);
  const short = strings.map(({ length }) => length).sort((a, b) => a - b);
  // A long string is empty in the skeleton, so the shortest ones are the long ones.
  return [...long, ...short.slice(long.length)];
}

/** See {@link promptTextsOf}: the query once a document, as it is read. */
export function promptTexts(request: RerankRequest): PromptText[] {
  const query = memberOf(request.members, "query") as Member;
  const text = request.bytes.toString("utf8", query.valueStart, query.valueEnd);
  const again = new Array<string>(request.documents - 1).fill(text);
  return [...promptTextsOf(request, NO_PROMPT), ...again];
}
