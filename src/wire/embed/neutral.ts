/**
 * The neutral contract of embeddings: texts in, vectors out, in no format's own terms. Both client formats read into it
 * and write from it; every upstream dialect the other way round.
 */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import { fail } from "../../base/errors.ts";
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity, ClientRequest } from "../format.ts";
import type { SvcReply } from "../neutral/contract.ts";
import type { FieldValue } from "../neutral/neutral.ts";
import type { JsonObject } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import type { Vector, VectorEncoding } from "./vectors.ts";

/** What the vectors are for: models that know make different ones for a question and for what answers it. */
export type InputType = "query" | "document" | "classification" | "clustering" | "similarity";

export interface NeutralEmbedRequest {
  readonly input:
    | { readonly kind: "texts"; readonly texts: readonly string[] }
    /** Token ids of the model's own tokenizer. */
    | { readonly kind: "tokens"; readonly tokens: readonly (readonly number[])[] };
  readonly inputType?: FieldValue<InputType>;
  readonly dimensions?: FieldValue<number>;
  /** What the client wants; a dialect that can is asked for the same, so that nothing needs converting. */
  readonly encoding: VectorEncoding;
  /** A stable id of the end user. */
  readonly user?: FieldValue<string>;
  /** JSON pointers of the request's members that this contract does not have. */
  readonly dropped: readonly string[];
}

export interface NeutralEmbedReply {
  /** In the order of the inputs. */
  readonly vectors: readonly Vector[];
  /** Undefined where the upstream reported none. */
  readonly usage: Usage | undefined;
}

/** A client's request for embeddings, read. Plain data. */
export interface EmbedRequest extends ClientRequest {
  /** Texts or token lists that want a vector each. */
  readonly inputs: number;
  /**
   * As asked for. Undefined: nothing was, and in a splice the answer passes as it comes. `other`: one that only a provider
   * knows, whose answer passes too.
   */
  readonly encoding: VectorEncoding | "other" | undefined;
}

/** What a translated answer is written in: numbers, where the client did not ask for base64. */
export const vectorEncoding = ({ encoding }: EmbedRequest): VectorEncoding =>
  encoding === "base64" ? "base64" : "float";

/** A client format of embeddings, as translation needs it. */
export interface EmbedFormat {
  /** The request in neutral terms. Strings may hold the source's marks. */
  neutral(request: EmbedRequest, source: Source): NeutralEmbedRequest;
  /** The answer's JSON text; its vectors are in the encoding that the client asked for. */
  writeReply(reply: NeutralEmbedReply, identity: AnswerIdentity, usage: Usage, svc: SvcReply): string;
}

/** An upstream dialect of embeddings. */
export interface EmbedDialect {
  readonly name: Dialect;
  /** The body as a value for JSON.stringify, and the pointers of what it cannot carry. @throws WeirError 400 */
  writeRequest(
    request: NeutralEmbedRequest,
    endpoint: Endpoint,
  ): { body: Readonly<Record<string, unknown>>; dropped: readonly string[] };
  /** @param body parsed JSON, no error. @throws WeirError `upstream_invalid_response` */
  readReply(body: JsonObject): NeutralEmbedReply;
}

/** @throws WeirError `capability_not_supported`: token ids mean nothing to another model's tokenizer. */
export function textsOf({ input }: NeutralEmbedRequest, { model, provider }: Endpoint): readonly string[] {
  if (input.kind === "texts") return input.texts;
  throw fail("capability_not_supported", `${model} takes texts, not token ids, at ${provider.name}.`, {
    param: "/input",
  });
}
