/**
 * Names of media types. Clients write many that no registry has, and providers refuse them: each is given its registered name
 * (https://www.iana.org/assignments/media-types) or, where there is none, the one that providers document.
 */

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/pjpg", "image/jpeg"],
  ["image/jfif", "image/jpeg"],
  ["image/x-jpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["image/apng", "image/png"],
  ["image/x-gif", "image/gif"],
  ["image/x-webp", "image/webp"],
  ["image/x-ms-bmp", "image/bmp"],
  ["image/x-bmp", "image/bmp"],
  ["image/tif", "image/tiff"],
  ["image/svg", "image/svg+xml"],
  ["audio/mp3", "audio/mpeg"],
  ["audio/x-mp3", "audio/mpeg"],
  ["audio/mpeg3", "audio/mpeg"],
  ["audio/x-mpeg", "audio/mpeg"],
  ["audio/x-mpeg-3", "audio/mpeg"],
  ["audio/mpga", "audio/mpeg"],
  ["audio/x-wav", "audio/wav"],
  ["audio/wave", "audio/wav"],
  ["audio/x-pn-wav", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["audio/x-flac", "audio/flac"],
  ["audio/x-aac", "audio/aac"],
  ["audio/m4a", "audio/mp4"],
  ["audio/x-m4a", "audio/mp4"],
  ["audio/x-aiff", "audio/aiff"],
  ["audio/x-ogg", "audio/ogg"],
  ["audio/pcm16", "audio/pcm"],
  ["application/ogg", "audio/ogg"],
  ["video/x-m4v", "video/mp4"],
  ["video/m4v", "video/mp4"],
  ["video/mov", "video/quicktime"],
  ["video/mkv", "video/x-matroska"],
  ["video/matroska", "video/x-matroska"],
  ["video/mpg", "video/mpeg"],
  ["video/x-mpeg", "video/mpeg"],
  ["video/avi", "video/x-msvideo"],
  ["video/msvideo", "video/x-msvideo"],
  ["video/flv", "video/x-flv"],
  ["video/wmv", "video/x-ms-wmv"],
  ["video/3gp", "video/3gpp"],
  ["application/x-pdf", "application/pdf"],
  ["application/acrobat", "application/pdf"],
  ["text/pdf", "application/pdf"],
  ["text/x-pdf", "application/pdf"],
  ["application/x-zip", "application/zip"],
  ["application/x-zip-compressed", "application/zip"],
  ["text/md", "text/markdown"],
  ["text/x-markdown", "text/markdown"],
  ["text/x-csv", "text/csv"],
  ["application/csv", "text/csv"],
  ["text/comma-separated-values", "text/csv"],
  ["text/json", "application/json"],
  ["application/x-json", "application/json"],
  ["text/txt", "text/plain"],
]);

const RIGHT_NAMES: ReadonlySet<string> = new Set(OTHER_NAMES.values());

/** The right name of a type, without parameters, in lower case. What is not known stays. */
export function rightType(label: string): string {
  if (RIGHT_NAMES.has(label)) return label;
  const bare = (label.split(";", 1)[0] as string).trim().toLowerCase();
  return OTHER_NAMES.get(bare) ?? bare;
}

const VAGUE: readonly string[] = [
  "",
  "application/octet-stream",
  "binary/octet-stream",
  "application/binary",
];

/** Whether the type says nothing of what the data are. */
export const isVague = (type: string): boolean => VAGUE.includes(type) || type.endsWith("*");

export const PDF = "application/pdf";

const TEXTS: ReadonlySet<string> = new Set([
  "application/json",
  "application/ld+json",
  "application/x-ndjson",
  "application/jsonl",
  "application/xml",
  "application/yaml",
  "application/x-yaml",
  "application/toml",
  "application/sql",
  "application/javascript",
  "application/x-javascript",
  "application/typescript",
  "application/x-typescript",
  "application/x-python",
  "application/x-sh",
]);

/** Whether documents of this type are text that a model reads as it is. */
export const isText = (type: string): boolean => type.startsWith("text/") || TEXTS.has(type);

export type MediaKind = "image" | "audio" | "video" | "document";

export function kindOf(type: string): MediaKind {
  const kind = type.slice(0, type.indexOf("/"));
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

/** The endings that show the type of what an address stands for where its kind matters: to models, and to what a call may cost. */
const ENDINGS: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
};

/** Hosts of videos, which Google's models watch by their address (https://ai.google.dev/gemini-api/docs/video-understanding). */
const VIDEOS = /^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//i;

/** The type that an address shows by its path's ending or its host; undefined where it shows none of a few well-known ones. */
export function typeOfAddress(url: string): string | undefined {
  if (VIDEOS.test(url)) return "video/*";
  return ENDINGS[/^[^?#]*\.(\w{3,4})(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? ""];
}
