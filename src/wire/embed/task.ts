/**
 * What the formats that generate nothing share: embeddings and rerank. Their answers are whole, their facts say nothing of
 * tools, images or output, and an option that a dialect does not have is named to the client.
 */
import { pointerTo } from "../../base/document/document.ts";
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import type { Usage } from "../../base/usage.ts";
import { sentOf } from "../extras/sent.ts";
import type { Billed } from "../extras/sift.ts";
import { type ClientRequest, OPENAI_CLIENTS, type Outgoing, type Written } from "../format.ts";
import { jsonAt, type Member, utf8Of } from "../json/json.ts";
import type { Elided } from "../json/skeleton.ts";
import type { ReplyFacts, RequestFacts } from "../neutral/contract.ts";
import type { FieldValue } from "../neutral/neutral.ts";
import { bytesOf, type Source } from "../neutral/source.ts";
import { optionsFor } from "../relay/provider-options.ts";
import { fitted } from "../relay/quirks.ts";

/** Nothing is generated: `maxTokens` is 0, which no context and no hold needs to make room for. */
export const factsOf = (
  model: string,
  promptTokens: number,
  longestTokens: number,
  searchUnits = 0,
): RequestFacts => ({
  model,
  promptTokens,
  longestTokens,
  stream: false,
  choices: 1,
  maxTokens: 0,
  hasTools: false,
  parallelTools: false,
  hasImages: false,
  hasAudio: false,
  hasSchema: false,
  imageCount: 0,
  hasUncounted: false,
  searchUnits,
});

/** @throws WeirError `unsupported_option` where the client asks for a stream: these answers come whole. */
export function refuseStream(text: string, members: readonly Member[]): void {
  if (jsonAt(text, members, "stream") === "true") throw noStream();
}

export const noStream = (): WeirError =>
  fail("unsupported_option", "This route does not stream: its answers come whole.", { param: "/stream" });

/** JSON pointers of members that the format does not know: they are not translated. */
export function strangersIn({ members }: ClientRequest, known: readonly string[]): string[] {
  const keys = members.map(({ key }) => utf8Of(key));
  return keys.filter((key) => !known.includes(key)).map((key) => pointerTo([key]));
}

/** All that is dropped: members that the format dropped, and options that the dialect does not have. */
export function withLeftOut(
  dropped: readonly string[],
  ...leftOut: readonly (FieldValue<unknown> | undefined)[]
): string[] {
  return [...dropped, ...leftOut.flatMap((option) => (option === undefined ? [] : [option.at]))];
}

/** A request as written in a dialect, fitted to the provider of an endpoint. */
export function fittedTo(
  endpoint: Endpoint,
  dialect: Dialect,
  billed: Billed,
  { bytes, svc }: ClientRequest,
  source: Source,
  written: Written,
): Outgoing {
  const options = optionsFor(svc, endpoint, dialect, billed);
  const { body, dropped } = fitted(written, options, endpoint.provider, dialect);
  const parts = bytesOf(bytes, source.piecesOf(body));
  return { parts, dropped, extras: sentOf(options.kept, options.unpriced) };
}

/** The lengths in bytes of those long strings of a member that the skeleton shows empty. */
export const longStringsIn = (elided: readonly Elided[], { valueStart, valueEnd }: Member): number[] =>
  elided
    .filter(({ start, end }) => start > valueStart && end < valueEnd)
    .map(({ start, end }) => end - start);

/**
 * @param answerBytes of the upstream's body, 0 where it answered nothing. Where it reported no usage, that something came is
 * what has the prompt charged by its estimate; none of it is generated text.
 */
export const answerFacts = (usage: Usage | undefined, answerBytes: number): ReplyFacts => ({
  usage,
  stopReason: "",
  toolCalls: 0,
  outputBytes: usage === undefined ? answerBytes : 0,
  unreportedBytes: 0,
});

/** The source of an answer's token counts, as the native formats write it. */
export const usageSourceOf = ({ usage, outputBytes }: Pick<ReplyFacts, "usage" | "outputBytes">) =>
  usage !== undefined ? "provider" : outputBytes > 0 ? "estimated" : "none";

/** Members of a `ClientFormat` whose answers are whole: errors are bodies, and what belongs to streams is never asked for. */
export const WHOLE_ONLY = {
  ...OPENAI_CLIENTS,
  keepAlive: "",
  generation: undefined,
} as const;
