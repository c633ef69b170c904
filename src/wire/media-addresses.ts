/** Media that a request names by address and a dialect takes only as data: what must be fetched before the request can be written. */
import type { Dialect } from "../base/endpoint.ts";
import { WeirError } from "../base/errors.ts";
import { GENERATION_DIALECTS } from "./dialects.ts";
import type { ClientFormat, ClientRequest } from "./format.ts";
import { fittedAddress, isMedia } from "./media/fit.ts";
import type { MediaKind } from "./media/types.ts";
import type { NeutralMessage } from "./neutral/neutral.ts";
import type { MediaPart } from "./neutral/not-carried.ts";
import type { Source } from "./neutral/source.ts";
import { sourceOf } from "./relay/translate.ts";

export interface MediaAddress {
  readonly url: string;
  readonly kind: MediaKind;
  /** JSON pointer to the part in the client's body. */
  readonly at: string;
}

/** Whether the dialect refuses an address of media of this kind. */
export const takesOnlyData = (dialect: Dialect, kind: MediaKind): boolean =>
  GENERATION_DIALECTS.get(dialect)?.takesOnlyData?.includes(kind) === true;

/** Whether there are kinds of media whose address the dialect refuses. */
export const takesSomeOnlyAsData = (dialect: Dialect): boolean =>
  GENERATION_DIALECTS.get(dialect)?.takesOnlyData !== undefined;

/** In the order of the body, wherever they are in it: messages, results of tools. The same address may come more than once. */
export function mediaAddresses(
  { generation }: ClientFormat,
  dialect: Dialect,
  request: ClientRequest,
): MediaAddress[] {
  if (generation === undefined) return [];
  try {
    const source = sourceOf(generation, request);
    const parts = mediaOf(generation.neutral(request, source).messages);
    return parts
      .flatMap((part) => addressOf(part, source))
      .filter(({ kind }) => takesOnlyData(dialect, kind));
  } catch (error) {
    // A request that cannot be read is refused when it is written, at each endpoint in its own way.
    if (error instanceof WeirError) return [];
    throw error;
  }
}

const mediaOf = (messages: readonly NeutralMessage[]): MediaPart[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool_result" ? part.parts : [part]).filter(isMedia)),
  );

function addressOf(part: MediaPart, source: Source): MediaAddress[] {
  const given = part.source;
  if (given.kind !== "url") return [];
  const url = source.whole(given.url);
  // Stores of providers have schemes of their own.
  if (!/^https?:/i.test(url)) return [];
  return [{ url, kind: fittedAddress(part, given, source).type, at: part.at }];
}
