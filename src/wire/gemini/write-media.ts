/** Images, documents, sound and video as Gemini takes them: inline, or by an address it fetches itself. */
import type { MediaSource } from "../neutral/neutral.ts";
import type { GeminiMedia } from "./body.ts";

/** Vertex requires the type of files that it fetches. The extension of most addresses shows it. */
const TYPES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
  pdf: "application/pdf",
  txt: "text/plain",
  mp3: "audio/mp3",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  mp4: "video/mp4",
  webm: "video/webm",
  mov: "video/quicktime",
};

const EXTENSION = /\.([a-z0-9]{3,4})(?:[?#]|$)/i;

export function writeMedia(source: MediaSource): GeminiMedia {
  if (source.kind === "data") return { inlineData: { mimeType: source.mediaType, data: source.data } };
  // The id of a file in Google's store is its address.
  if (source.kind === "file") return { fileData: { fileUri: source.id } };
  const mimeType = source.mediaType ?? TYPES[EXTENSION.exec(source.url)?.[1]?.toLowerCase() ?? ""];
  return { fileData: { fileUri: source.url, ...(mimeType !== undefined && { mimeType }) } };
}
