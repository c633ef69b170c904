/**
 * Tells what data are by their first bytes, where a label is missing or wrong (WHATWG, "MIME Sniffing", section 6; ISO/IEC 14496-12
 * for the brands of `ftyp`; RFC 9559 for EBML). Office documents share theirs with other files: office.ts tells more of them.
 */

export interface Told {
  readonly type: string;
  /** Sound and video share this container, so that a label which names one of them is right too. */
  readonly isContainer?: true;
  /** So short a beginning that other data may have it by chance: a label of another kind counts more. */
  readonly isWeak?: true;
  /** Files of many types are in this container, so that a label or a name may tell more. */
  readonly isArchive?: true;
}

export const ZIP = "application/zip";
export const OLE = "application/x-ole-storage";

/** So many characters of base64 are looked at: 66 bytes. */
const LOOKED_AT = 88;

const BEGINNINGS: readonly (readonly [beginning: string, told: Told])[] = [
  ["\xff\xd8\xff", { type: "image/jpeg" }],
  ["\x89PNG\r\n\x1a\n", { type: "image/png" }],
  ["GIF87a", { type: "image/gif" }],
  ["GIF89a", { type: "image/gif" }],
  ["II*\0", { type: "image/tiff" }],
  ["MM\0*", { type: "image/tiff" }],
  ["%PDF-", { type: "application/pdf" }],
  ["PK\x03\x04", { type: ZIP, isArchive: true }],
  ["\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", { type: OLE, isArchive: true }],
  ["fLaC", { type: "audio/flac" }],
  ["OggS", { type: "audio/ogg", isContainer: true }],
  ["ID3", { type: "audio/mpeg" }],
  ["FLV\x01", { type: "video/x-flv" }],
  ["\0\0\x01\xba", { type: "video/mpeg" }],
  ["BM", { type: "image/bmp", isWeak: true }],
  ["\xff\xfb", { type: "audio/mpeg", isWeak: true }],
  ["\xff\xf3", { type: "audio/mpeg", isWeak: true }],
  ["\xff\xf2", { type: "audio/mpeg", isWeak: true }],
  ["\xff\xf1", { type: "audio/aac", isWeak: true }],
  ["\xff\xf9", { type: "audio/aac", isWeak: true }],
];

/** By the first four letters and those at byte 8 of a RIFF or IFF file. */
const CHUNKS: Readonly<Record<string, Told>> = {
  "RIFF WEBP": { type: "image/webp" },
  "RIFF WAVE": { type: "audio/wav" },
  "RIFF AVI ": { type: "video/x-msvideo" },
  "FORM AIFF": { type: "audio/aiff" },
  "FORM AIFC": { type: "audio/aiff" },
};

const MP4: Told = { type: "video/mp4", isContainer: true };

/** By the major brand of `ftyp`; any other is MP4. */
const BRANDS: Readonly<Record<string, Told>> = {
  heic: { type: "image/heic" },
  heix: { type: "image/heic" },
  mif1: { type: "image/heif" },
  msf1: { type: "image/heif" },
  avif: { type: "image/avif" },
  avis: { type: "image/avif" },
  "M4A ": { type: "audio/mp4", isContainer: true },
  "M4B ": { type: "audio/mp4", isContainer: true },
  "qt  ": { type: "video/quicktime", isContainer: true },
};

const EBML = "\x1aE\xdf\xa3";

/** By the first byte: most data begin as none of them. */
const BY_FIRST = Map.groupBy(BEGINNINGS, ([beginning]) => beginning.charCodeAt(0));

/**
 * The letters of base64 at the beginning of a string, as JSON text (RFC 8259, section 7) or a data URL (RFC 3986, section 2.1) may
 * write them: encoders escape slashes and plus signs, and break lines.
 */
export function lettersOf(written: string): string {
  if (!/[\\%\s]/.test(written)) return written;
  const letters = written
    .replace(/\\u([\da-f]{4})/gi, letterOf)
    .replace(/\\[nrt]/g, "")
    .replaceAll("\\", "");
  return unpercented(letters).replace(/\s/g, "");
}

/** Base64 that a data URL has percent-encoded, without that. */
export const unpercented = (base64: string): string =>
  base64.includes("%") ? base64.replace(/%([\da-f]{2})/gi, letterOf) : base64;

const letterOf = (_: string, code: string): string => String.fromCharCode(Number.parseInt(code, 16));

/** Undefined where the beginning is of no known format. @param base64 of the data, or of their beginning */
export function toldBy(base64: string): Told | undefined {
  const beginning = Buffer.from(base64.slice(0, LOOKED_AT), "base64").toString("latin1");
  if (beginning.startsWith("ftyp", 4)) return BRANDS[beginning.slice(8, 12)] ?? MP4;
  if (beginning.startsWith(EBML)) {
    const type = beginning.includes("webm") ? "video/webm" : "video/x-matroska";
    return { type, isContainer: true };
  }
  if (beginning.startsWith("RIFF") || beginning.startsWith("FORM")) {
    return CHUNKS[`${beginning.slice(0, 4)} ${beginning.slice(8, 12)}`];
  }
  return BY_FIRST.get(beginning.charCodeAt(0))?.find(([known]) => beginning.startsWith(known))?.[1];
}
