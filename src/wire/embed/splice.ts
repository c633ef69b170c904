/**
 * OpenAI's embeddings to an upstream of the same dialect: bytes pass. In the request `model` is the upstream's and `svc`
 * goes; in the answer `model` is ours and `svc` is added, and the vectors are neither parsed nor looked at. But an upstream
 * that does not know `encoding_format` sends numbers to a client that reads base64: that answer is translated. Whoever
 * asked for no encoding gets the provider's own: Perplexity's is base64 of bytes.
 */
import { fail } from "../../base/errors.ts";
import type { AnswerIdentity, Passage, WholeAnswer } from "../format.ts";
import { editedParts } from "../json/edited-bytes.ts";
import { type Edit, latin1Json, type Member, memberOf, setMember } from "../json/json.ts";
import { type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { spliced, spliceOf } from "../relay/splice.ts";
import { svcJson } from "../svc.ts";
import type { EmbedRequest } from "./neutral.ts";
import { openAiEmbeddings } from "./openai.ts";
import { errorIn } from "./read-reply.ts";
import { sketch } from "./sketch.ts";
import { answerFacts, noStream } from "./task.ts";
import { translatedEmbeddings } from "./translate.ts";
import { readPromptUsage } from "./usage.ts";
import { embeddingsWire } from "./write-reply.ts";

/** For answers in another encoding than was asked for. */
const RECODED = translatedEmbeddings(embeddingsWire, openAiEmbeddings);

export const embeddingsSplice: Passage<EmbedRequest> = {
  write: (request, endpoint, billed = "platform") =>
    spliced(request, spliceOf(request, endpoint, "openai_embeddings", billed)),
  whole(body, request, identity) {
    const { members, value } = read(body);
    const [first] = listOf(value.data);
    const vector = objectOf(first).embedding;
    const came = typeof vector === "string" ? "base64" : "float";
    const { encoding } = request;
    const isAsked = encoding === "float" || encoding === "base64";
    if (isAsked && vector !== undefined && came !== encoding) return RECODED.whole(body, request, identity);
    return splicedEmbeddings(body, members, value, identity);
  },
  stream() {
    throw noStream();
  },
};

/** @throws WeirError `upstream_invalid_response` where the body is no list of embeddings. */
function splicedEmbeddings(
  body: Buffer,
  members: readonly Member[],
  value: JsonObject,
  identity: AnswerIdentity,
): WholeAnswer {
  const isAnswered = listOf(value.data).length > 0 && !value.error;
  const error = isAnswered ? undefined : errorIn(objectOf(parseReply(body)));
  const isError = error !== undefined;
  if (!isError && !isAnswered) {
    throw fail("upstream_invalid_response", "The provider's answer is no list of embeddings.");
  }
  const usage = objectOf(value.usage);
  const reported = isError ? undefined : readPromptUsage(usage.prompt_tokens, usage.total_tokens);
  return {
    facts: answerFacts(reported, isError ? 0 : body.length),
    error,
    write({ inputTokens }, svc) {
      const edits = [
        frontEdit(members, "model", latin1Json(identity.model)),
        frontEdit(members, "svc", svcJson(svc)),
      ];
      if (reported === undefined) {
        const tokens = { prompt_tokens: inputTokens, total_tokens: inputTokens };
        edits.push(frontEdit(members, "usage", JSON.stringify(tokens)));
      }
      return Buffer.concat(editedParts(body, edits));
    },
  };
}

/** Sets a member, or adds it at the front: after the last one, several edits would have the same position. */
function frontEdit(members: readonly Member[], key: string, value: string): Edit {
  const member = memberOf(members, key);
  if (member !== undefined) return { start: member.valueStart, end: member.valueEnd, text: value };
  const [first] = members;
  if (first === undefined) return setMember("{", members, key, value);
  return { start: first.start, end: first.start, text: `"${key}":${value},` };
}

function read(body: Buffer): { readonly members: readonly Member[]; readonly value: JsonObject } {
  try {
    const { members, skeleton } = sketch(body);
    return { members, value: objectOf(JSON.parse(skeleton)) };
  } catch (cause) {
    throw fail("upstream_invalid_response", "The provider's answer is not valid JSON.", { cause });
  }
}
