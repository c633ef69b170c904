/** Media in a model's answer: images that it made, and sound. */
import type { MediaReplyPart, MediaSource, NeutralReply, ReplyPart, Seal } from "../neutral/neutral.ts";
import { kindOf, rightType } from "./types.ts";

const BASE64_URL = /^data:([^,;]*)[^,]*;base64,/i;

/** What an address in an answer stands for: the data of a data URL, or where it can be fetched. */
export function sourceOfAddress(url: string): MediaSource {
  const head = BASE64_URL.exec(url);
  if (head === null) return { kind: "url", url };
  return {
    kind: "data",
    mediaType: rightType(head[1] ?? "") || "image/png",
    data: url.slice(head[0].length),
  };
}

/** @param label media type @param data base64 */
export function madeOf(label: string, data: string, seal?: Seal): MediaReplyPart {
  const mediaType = rightType(label);
  const source = { kind: "data", mediaType, data } as const;
  return { type: "media", kind: kindOf(mediaType), source, ...(seal !== undefined && { seal }) };
}

export const addressOf = (source: MediaSource): string | undefined => {
  if (source.kind === "data") return `data:${source.mediaType};base64,${source.data}`;
  return source.kind === "url" ? source.url : undefined;
};

/** A client's format, as far as answers of media matter: see `GenerationFormat`. */
export interface TakesMedia {
  takesMedia?(media: MediaReplyPart): boolean;
}

/** Which kinds of media a client's format had no place for: for a warning. Undefined where there are none. */
export type Lost = readonly string[] | undefined;

/** The answer without media that the client's format has no place for. */
export function withoutLostMedia(
  reply: NeutralReply,
  format: TakesMedia,
): { readonly reply: NeutralReply; readonly lost: Lost } {
  const isLost = (part: ReplyPart): boolean => part.type === "media" && format.takesMedia?.(part) !== true;
  let lost: Set<string> | undefined;
  for (const { parts } of reply.choices) {
    for (const part of parts) {
      if (part.type !== "media" || !isLost(part)) continue;
      lost ??= new Set();
      lost.add(part.kind);
    }
  }
  if (lost === undefined) return { reply, lost: undefined };
  const choices = reply.choices.map((choice) => ({
    ...choice,
    parts: choice.parts.filter((part) => !isLost(part)),
  }));
  return { reply: { ...reply, choices }, lost: [...lost] };
}

/** Media as a native part: as it is sent back in a request. */
export const nativeMedia = ({ kind, source, seal }: MediaReplyPart) => ({
  type: kind,
  ...(source?.kind === "data" && { media_type: source.mediaType, data: source.data }),
  ...(source?.kind === "url" && { url: source.url }),
  ...(seal !== undefined && { seal }),
});
