/**
 * Images, documents, sound and video as Converse takes them: by format, as base64 or from S3. It fetches nothing from
 * elsewhere.
 */

import type { DocumentPart, ImagePart, MediaSource, RecordingPart } from "../neutral/neutral.ts";
import { notCarried } from "../neutral/not-carried.ts";
import { hasMark } from "../neutral/source.ts";
import type { BlobSource, DocumentBlock, MediaBlock } from "./body.ts";

type Formats = Readonly<Record<string, string>>;

const IMAGES: Formats = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

const VIDEOS: Formats = {
  "video/mp4": "mp4",
  "video/quicktime": "mov",
  "video/x-matroska": "mkv",
  "video/webm": "webm",
  "video/x-flv": "flv",
  "video/mpeg": "mpeg",
  "video/x-ms-wmv": "wmv",
  "video/3gpp": "three_gp",
};

const SOUNDS: Formats = {
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/ogg": "ogg",
  "audio/opus": "opus",
  "audio/aac": "aac",
  "audio/mp4": "m4a",
  "audio/webm": "webm",
  "audio/pcm": "pcm",
};

const DOCUMENTS: Formats = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/html": "html",
  "text/plain": "txt",
  "text/markdown": "md",
};

const FORMATS = { image: IMAGES, video: VIDEOS, audio: SOUNDS };

/** @throws WeirError 400 where the provider cannot take it */
export function writeMedia(part: ImagePart | RecordingPart): MediaBlock {
  const { source, type } = part;
  const blob = writeBlob(source);
  const format = formatOf(source, FORMATS[type]);
  if (blob === undefined || format === undefined) throw notCarried(part);
  return { format, source: blob };
}

function writeBlob(source: MediaSource): BlobSource | undefined {
  if (source.kind === "data") return { bytes: source.data };
  const uri = source.kind === "url" ? source.url : source.id;
  return uri.startsWith("s3://") ? { s3Location: { uri } } : undefined;
}

const EXTENSION = /\.([a-z0-9]{2,4})$/i;

/** By the media type, or by the name in S3. */
function formatOf(source: MediaSource, formats: Formats): string | undefined {
  const type = source.kind === "file" ? undefined : source.mediaType;
  if (type !== undefined) {
    const name = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    return Object.hasOwn(formats, name) ? formats[name] : undefined;
  }
  const extension = EXTENSION.exec(
    source.kind === "url" ? source.url : source.kind === "file" ? source.id : "",
  );
  const word = extension?.[1]?.toLowerCase();
  const format = word === "jpg" ? "jpeg" : word;
  return Object.values(formats).find((known) => known === format);
}

/** Gives each document of a request a name the provider takes: few kinds of characters, and no name twice. */
export class DocumentNames {
  readonly #given = new Set<string>();
  /** By a name, the number that its next double tries: a body may hold a hundred thousand of one name. */
  readonly #numbers = new Map<string, number>();

  /** The name the client gave, as near as may be. */
  next(wanted: string | undefined): string {
    const base = permitted(wanted ?? "") || "document";
    let name = base;
    let number = this.#numbers.get(base) ?? 2;
    while (this.#given.has(name)) name = `${base} (${number++})`;
    this.#numbers.set(base, number);
    this.#given.add(name);
    return name;
  }
}

/** Room for a number within the 200 characters of a name. */
const MAX_NAME = 180;
function permitted(name: string): string {
  // What stands for a long name must not be cut to pieces, nor shown.
  if (hasMark(name)) return "";
  return name
    .replace(/[^A-Za-z0-9\s()[\]-]+/g, "-")
    .replace(/\s+/g, " ")
    .slice(0, MAX_NAME)
    .replace(/^[\s-]+|[\s-]+$/g, "");
}

/** @throws WeirError 400 where the provider cannot take it */
export function writeDocument(part: DocumentPart, names: DocumentNames): DocumentBlock {
  const { source, context, citations } = part;
  const more = {
    ...(context !== undefined && { context }),
    ...(citations === true && { citations: { enabled: true as const } }),
  };
  // A document that is to be cited: others come as data.
  if (source.kind === "text") {
    return { format: "txt", name: names.next(part.name), source: { text: source.text }, ...more };
  }
  const blob = writeBlob(source);
  const format = formatOf(source, DOCUMENTS);
  if (blob === undefined || format === undefined) throw notCarried(part);
  return { format, name: names.next(part.name), source: blob, ...more };
}
