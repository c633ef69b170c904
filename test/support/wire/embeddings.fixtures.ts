/** Embeddings as clients ask for them and upstreams answer, and the way between. */
import type { Dialect } from "../../../src/base/endpoint.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { embeddingsFormat } from "../../../src/wire/embed/format.ts";
import type { EmbedRequest } from "../../../src/wire/embed/neutral.ts";
import { embedPassage } from "../../../src/wire/embed/passages.ts";
import { base64Of } from "../../../src/wire/embed/vectors.ts";
import type { AnswerIdentity, ClientFormat, Passage } from "../../../src/wire/format.ts";
import type { SvcReply } from "../../../src/wire/neutral/contract.ts";
import { endpoint } from "../routing/fixtures.ts";
import { type Json, SVC, usage } from "./fixtures.ts";

export const UPSTREAM = endpoint("e", { upstreamModel: "up" });
export const IDENTITY: AnswerIdentity = {
  id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  requestId: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  model: "vendor/modèle",
  createdS: 1,
  clock: { now: () => 1000 },
  maxEventBytes: 1,
  maxCaptureBytes: 1,
};

export const bytesOf = (body: unknown): Buffer => Buffer.from(JSON.stringify(body));
export const read = (body: Json, format: ClientFormat<EmbedRequest> = embeddingsFormat) =>
  format.read(bytesOf({ model: "vendor/m", ...body }));
export const passageTo = (
  dialect: Dialect,
  format: ClientFormat<EmbedRequest> = embeddingsFormat,
): Passage => {
  const passage = embedPassage(format.name, dialect);
  if (passage === undefined) throw new Error(`no way to ${dialect}`);
  return passage;
};

/** What the upstream gets, and what it is not told. */
export function sent(
  body: Json,
  dialect: Dialect,
  format = embeddingsFormat,
): { body: Json; dropped: readonly string[] } {
  const { parts, dropped } = passageTo(dialect, format).write(read(body, format), UPSTREAM);
  return { body: JSON.parse(Buffer.concat(parts).toString()) as Json, dropped };
}

/** What the client gets of an upstream's answer. */
export function answered(
  body: Json,
  reply: unknown,
  dialect: Dialect,
  format = embeddingsFormat,
  svc: SvcReply = SVC,
) {
  const whole = passageTo(dialect, format).whole(bytesOf(reply), read(body, format), IDENTITY);
  const written = whole.write(whole.facts.usage ?? usage(11, 0), svc);
  return { json: JSON.parse(written.toString()) as Json, facts: whole.facts, error: whole.error };
}

export function refusal(act: () => unknown): { kind: string; param: string | undefined } {
  try {
    act();
  } catch (error) {
    if (error instanceof WeirError) return { kind: error.kind, param: error.param };
    throw error;
  }
  throw new Error("was not refused");
}

export const A = [0.25, -1.5, 3];
export const B = [1, 0.5, -0.125];
export const A64 = base64Of(A);
export const B64 = base64Of(B);

export const openAiReply = (
  a: unknown,
  b: unknown,
  used: unknown = { prompt_tokens: 7, total_tokens: 7 },
) => ({
  object: "list",
  data: [
    { object: "embedding", index: 0, embedding: a },
    { object: "embedding", index: 1, embedding: b },
  ],
  model: "up",
  usage: used,
});

/** Answers as the providers' references show them, to two inputs. */
export const REPLIES: Readonly<
  Partial<Record<Dialect, { float: unknown; base64: unknown; tokens: number | undefined }>>
> = {
  openai_embeddings: { float: openAiReply(A, B), base64: openAiReply(A64, B64), tokens: 7 },
  gemini_embeddings: {
    float: { embeddings: [{ values: A }, { values: B }] },
    base64: { embeddings: [{ values: A }, { values: B }] },
    tokens: undefined,
  },
  cohere: {
    float: {
      id: "da6e531f-54c5-4a73-bf92-f60566d8d753",
      embeddings: { float: [A, B] },
      texts: ["a", "b"],
      meta: { api_version: { version: "2" }, billed_units: { input_tokens: 6 } },
      response_type: "embeddings_by_type",
    },
    base64: {
      id: "1",
      embeddings: { base64: [A64, B64] },
      texts: ["a", "b"],
      meta: { billed_units: { input_tokens: 6 } },
    },
    tokens: 6,
  },
  jina: {
    float: { ...openAiReply(A, B), usage: { total_tokens: 9, prompt_tokens: 9 } },
    base64: { ...openAiReply(A64, B64), usage: { total_tokens: 9, prompt_tokens: 9 } },
    tokens: 9,
  },
  voyage: {
    float: { ...openAiReply(A, B), usage: { total_tokens: 5 } },
    base64: { ...openAiReply(A64, B64), usage: { total_tokens: 5 } },
    tokens: 5,
  },
};
export const DIALECTS = Object.keys(REPLIES) as Dialect[];
