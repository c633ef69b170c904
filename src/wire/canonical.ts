/**
 * A request of any format as the native format says it (specification, "Native inference"): what a record shows, so that
 * the calls of all clients read alike.
 */
import { WeirError } from "../base/errors.ts";
import { beyondChat } from "./completions/neutral-request.ts";
import type { CompletionsBody } from "./completions/schema.ts";
import type { EmbedRequest, NeutralEmbedRequest } from "./embed/neutral.ts";
import { embeddingsNeutral, embedNeutral } from "./embed/neutral-request.ts";
import type { ClientRequest, FormatName } from "./format.ts";
import { FORMATS } from "./formats.ts";
import { writeGenerateRequest } from "./generate/write-request.ts";
import { jsonTextOf } from "./json/json-text.ts";
import { isObject, type JsonObject, objectOf, parsed } from "./neutral/reader.ts";
import { Source } from "./neutral/source.ts";
import { NATIVE_OPTIONS } from "./svc-schema.ts";

/** Formats that are native already. */
const NATIVE: ReadonlySet<FormatName> = new Set(["generate", "embed", "rerank"]);

/** Undefined where the bytes cannot be read as a request: damaged, or of a shape that this release refuses. */
export type Canonical = JsonObject | undefined;

/** @param bytes a body of this format, as it came or redacted */
export function canonicalRequest(format: FormatName, bytes: Uint8Array): Canonical {
  try {
    const body = ownPart(format, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const request = FORMATS[format].read(body);
    // Nothing is elided: a mark in place of a long string would be shown.
    const source = new Source(body, []);
    const own = objectOf(source.value);
    const { user, ...members } = membersOf(format, request, source);
    return { model: request.facts.model, ...members, ...optionsOf(NATIVE.has(format) ? own : own.svc, user) };
  } catch (error) {
    if (error instanceof WeirError) return undefined;
    throw error;
  }
}

/** A responses request may name items that are kept elsewhere: they are no part of its body. */
function ownPart(format: FormatName, body: Buffer): Buffer {
  if (format !== "responses" || !body.includes("item_reference")) return body;
  const { input, ...rest } = parsed(body.toString("latin1")) ?? {};
  if (!Array.isArray(input)) return body;
  const own = input.filter((item) => objectOf(item).type !== "item_reference");
  return Buffer.from(JSON.stringify({ ...rest, input: own }));
}

/** What is asked for, and the end user where the format names one. */
function membersOf(format: FormatName, request: ClientRequest, source: Source): Members {
  const { generation } = FORMATS[format];
  if (format === "completions" && beyondChat(source.value as CompletionsBody) !== undefined)
    return textsOf(objectOf(source.value));
  if (generation !== undefined) {
    const neutral = generation.neutral(request, source);
    // A record shows values; the body itself has their texts.
    const shown = JSON.parse(jsonTextOf(writeGenerateRequest(neutral))) as JsonObject;
    return { ...shown, user: neutral.options.user?.value };
  }
  const asked = request as EmbedRequest;
  if (format === "embeddings") return embedOf(embeddingsNeutral(asked, source));
  if (format === "embed") return embedOf(embedNeutral(asked, source));
  const { model: _, ...rest } = objectOf(source.value);
  return rest;
}

/** What only a model that continues texts can be asked has no native words: it is shown as it was asked. */
function textsOf({ model: _, svc: __, user, ...rest }: JsonObject): Members {
  return typeof user === "string" ? { ...rest, user } : rest;
}

interface Members extends JsonObject {
  readonly user?: string | undefined;
}

const embedOf = ({ input, inputType, dimensions, user }: NeutralEmbedRequest): Members => ({
  input: input.kind === "texts" ? input.texts : input.tokens,
  ...(inputType && { input_type: inputType.value }),
  ...(dimensions && { dimensions: dimensions.value }),
  user: user?.value,
});

/** Our own options stand at the top of a native request, and in member `svc` of every other. */
function optionsOf(given: unknown, user: string | undefined): JsonObject {
  const options = objectOf(given);
  const named = Object.fromEntries(
    NATIVE_OPTIONS.flatMap((name) => (name in options ? [[name, options[name]]] : [])),
  );
  if (user === undefined) return named;
  const metadata = isObject(named.metadata) ? named.metadata : {};
  // What is said to us counts more than what the format says by the way.
  return { ...named, metadata: { user_id: user, ...metadata } };
}
