/**
 * Media of a request as what they are: the right name of their type, told by their first bytes where the label is missing or wrong, as
 * the part that fits the type (a PDF is a document wherever a client put it), in base64 that every provider reads, on the side of
 * the conversation where the dialect takes them. Data of megabytes stay marks.
 */
import { append } from "../json/append.ts";
import { wrong } from "../neutral/fields.ts";
import type {
  MediaSource,
  NeutralMessage,
  NeutralRequest,
  Part,
  ToolResultPart,
} from "../neutral/neutral.ts";
import type { MediaPart } from "../neutral/not-carried.ts";
import type { Source } from "../neutral/source.ts";
import { mediaSource } from "./data-url.ts";
import { fileType } from "./file-names.ts";
import { lettersOf, type Told, toldBy, unpercented } from "./first-bytes.ts";
import { typeInside, XLS } from "./office.ts";
import { isText, isVague, kindOf, type MediaKind, PDF, rightType, typeOfAddress } from "./types.ts";
import { refuseUnread } from "./unread.ts";

type DataSource = Extract<MediaSource, { kind: "data" }>;

export const isMedia = (part: Part): part is MediaPart =>
  part.type === "image" || part.type === "document" || part.type === "audio" || part.type === "video";

const holdsMedia = (part: Part): boolean =>
  isMedia(part) || (part.type === "tool_result" && part.parts.some(isMedia));

/**
 * @param assistantMedia whether the dialect takes media in the model's own turns; else they follow in a message of the user's
 * @param onlyData kinds that the dialect takes as data alone: what was fetched of their addresses is told in place of these
 * @throws WeirError 400 naming data whose type nothing tells, or media that the neutral contract has no place for
 */
export function withFittedMedia(
  request: NeutralRequest,
  source: Source,
  assistantMedia: boolean,
  onlyData: readonly MediaKind[] = [],
): NeutralRequest {
  const { messages, dropped } = request;
  if (dropped.length > 0) refuseUnread(dropped, source.value);
  // Nearly all requests have none.
  if (!messages.some(({ parts }) => parts.some(holdsMedia))) return request;
  const fitted = messages.map((message) =>
    message.parts.some(holdsMedia)
      ? { ...message, parts: message.parts.map((part) => fittedPart(part, source, onlyData)) }
      : message,
  );
  return { ...request, messages: assistantMedia ? fitted : withoutAssistantMedia(fitted) };
}

function fittedPart(part: Part, source: Source, onlyData: readonly MediaKind[]): Part {
  if (isMedia(part)) return fittedMedia(part, source, onlyData);
  if (part.type !== "tool_result" || !part.parts.some(isMedia)) return part;
  const parts = part.parts.map((inner) => {
    if (inner.type === "text") return inner;
    const fitted = fittedMedia(inner, source, onlyData);
    // Results have no parts for sound and video: a document says the same.
    return fitted.type === "image" || fitted.type === "document" ? fitted : asDocument(fitted);
  });
  return { ...part, parts } satisfies ToolResultPart;
}

function fittedMedia(part: MediaPart, source: Source, onlyData: readonly MediaKind[]): MediaPart {
  const given = part.source;
  if (given.kind === "data") return fittedData(part, given, source);
  if (given.kind !== "url") return part;
  const fitted = fittedAddress(part, given, source);
  const fetched = onlyData.includes(fitted.type) ? source.fetched(source.whole(given.url)) : undefined;
  return fetched === undefined ? fitted : fittedData(fitted, fetched, source);
}

/** The part that fits what the address shows. */
export function fittedAddress(
  part: MediaPart,
  given: Extract<MediaSource, { kind: "url" }>,
  source: Source,
): MediaPart {
  const { mediaType } = given;
  const shown = mediaType === undefined ? typeOfAddress(source.whole(given.url)) : rightType(mediaType);
  const named = mediaType === undefined ? given : { ...given, mediaType: rightType(mediaType) };
  return shown === undefined || (isVague(shown) && mediaType !== undefined)
    ? part
    : ofType(part, named, shown);
}

function fittedData(part: MediaPart, given: DataSource, source: Source): MediaPart {
  // Clients send data URLs where only the data belong.
  const own = given.data.startsWith("data:") ? mediaSource(source, given.data, part.at, "") : given;
  if (own.kind !== "data") return part;
  const { head, tail, length } = source.ends(own.data, ENDS);
  const told = toldBy(lettersOf(head));
  const label = rightType(own.mediaType);
  const type =
    told?.isArchive === true
      ? typeInside(told.type, label, nameOf(part, source), own.data, source)
      : typeOf(label, told, part);
  const isUntold = isVague(type) && told === undefined;
  // Browsers on Windows call any table an xls, whose first bytes would tell it.
  const isTable = type === XLS && told === undefined;
  if (isText(type) || isTable || (isUntold && part.type === "document")) {
    const text = textOf(source.whole(own.data));
    if (text !== undefined) return asText(part, text);
  }
  if (type === "" && part.type !== "document") {
    throw wrong(part.at, "a media type, or data whose first bytes tell it");
  }
  // Files whose names tell nothing are PDFs: OpenAI's formats were made for these.
  const mediaType = isUntold && part.type === "document" ? fileType(nameOf(part, source)) || PDF : type;
  const data = isStrict(head, tail, length) ? own.data : bytesOf(source.whole(own.data)).toString("base64");
  return isUntold
    ? withSource(part, { kind: "data", mediaType, data })
    : ofType(part, { kind: "data", mediaType, data }, mediaType);
}

const nameOf = (part: MediaPart, source: Source): string =>
  part.type === "document" && part.name !== undefined ? source.whole(part.name) : "";

/** The type that the first bytes tell, or that of the label where it says more than they do. */
function typeOf(label: string, told: Told | undefined, { type }: MediaPart): string {
  if (told === undefined) return label;
  const kind = kindOf(label);
  if (told.isContainer && (kind === "audio" || kind === "video")) return label;
  if (told.isContainer && isVague(label) && type === "audio") return told.type.replace("video/", "audio/");
  if (told.isWeak && !isVague(label) && kind !== kindOf(told.type)) return label;
  // HEIF has names for each of its codecs, which one brand may stand for.
  if (told.type.startsWith("image/hei") && label.startsWith("image/hei")) return label;
  return told.type;
}

/** Characters of base64 that hold the first bytes, or a line of it with its end, if some are escaped. */
const ENDS = 128;

/** Letters that are not of base64 are skipped. */
const bytesOf = (base64: string): Buffer => Buffer.from(unpercented(base64), "base64");

/**
 * Whether base64 has no line ends, nothing percent-encoded, none of the letters for URLs, and its padding (RFC 4648, section 4).
 * Anthropic refuses any other ("invalid base64 data"). Told by its ends: lines of MIME have 76 characters, and one letter in 32 of
 * base64 for URLs is its own.
 */
function isStrict(head: string, tail: string, length: number): boolean {
  const ends = head + tail;
  if (/[\s_%-]|\\[^/]/.test(ends)) return false;
  // Escaped slashes are no part of the data: the length tells nothing.
  return ends.includes("\\") || length % 4 === 0;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Undefined where the data are no text. */
function textOf(base64: string): string | undefined {
  try {
    const text = UTF8.decode(bytesOf(base64));
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function asText(part: MediaPart, text: string): MediaPart {
  const { at } = part;
  const source = { kind: "text", text } as const;
  return part.type === "document" ? { ...part, source } : { type: "document", source, at, ...cacheOf(part) };
}

const withSource = (part: MediaPart, source: MediaSource): MediaPart => ({ ...part, source });

/** The part that fits the type. */
function ofType(part: MediaPart, source: MediaSource, type: string): MediaPart {
  const kind = kindOf(type);
  if (kind === part.type) return { ...part, source };
  const { at } = part;
  if (kind === "image") return { type: kind, source, at, ...cacheOf(part) };
  return kind === "document" ? asDocument({ ...part, source }) : { type: kind, source, at };
}

const asDocument = (part: MediaPart): Extract<MediaPart, { type: "document" }> => ({
  type: "document",
  source: part.source,
  at: part.at,
  ...cacheOf(part),
});

const cacheOf = (part: MediaPart) =>
  "cache" in part && part.cache !== undefined ? { cache: part.cache } : {};

/**
 * Providers but Google refuse media in a model's turn (Anthropic: "'image' blocks are not permitted within assistant turns"; Bedrock's
 * "Message" has images for users only). The model sees them in a message of the user's, behind the results of the turn's calls.
 */
function withoutAssistantMedia(messages: readonly NeutralMessage[]): NeutralMessage[] {
  const out: NeutralMessage[] = [];
  let waiting: NeutralMessage[] = [];
  for (const message of messages) {
    const isResults = message.role === "user" && message.parts[0]?.type === "tool_result";
    if (!isResults) {
      append(out, waiting);
      waiting = [];
    }
    if (message.role !== "assistant" || !message.parts.some(isMedia)) {
      out.push(message);
      continue;
    }
    const others = message.parts.filter((part) => !isMedia(part));
    if (others.length > 0) out.push({ ...message, parts: others });
    waiting.push({ role: "user", parts: message.parts.filter(isMedia), at: message.at });
  }
  append(out, waiting);
  return out;
}
