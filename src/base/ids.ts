/**
 * Identifiers: request ids are bare ULIDs (26 characters, Crockford base 32), resources a prefix plus a ULID. Monotonic
 * within this process, so that ids sort by creation unless the clock is set back.
 */
import { encodeTime, incrementBase32, ulid } from "ulid";
import { systemRandom } from "./clock.ts";

/** Ids still sort by creation if the clock is corrected by at most this. */
const CORRECTION_MS = 1000;

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** The last two characters of an id, in order. Ids of one millisecond differ in these, until they are used up. */
const PAIRS: readonly string[] = Array.from(ALPHABET, (first) =>
  Array.from(ALPHABET, (second) => first + second),
).flat();
/** The instant of the newest id, its characters before the last two, and those. */
let idMs = -1;
let start = "";
let pair = 0;

/** After a clock that ran ahead is set back, ids must not keep the future time until it is reached again. */
function next(nowMs: number): string {
  if (nowMs < idMs - CORRECTION_MS) idMs = -1;
  if (nowMs > idMs) {
    // The package takes 0 for the present: such an id would be of a time that is still to come here.
    const id = ulid(Math.max(1, nowMs), systemRandom);
    idMs = nowMs;
    start = id.slice(0, -2);
    pair = pairOf(id);
  } else if (++pair === PAIRS.length) {
    start = start.slice(0, TIME_CHARACTERS) + incrementBase32(start.slice(TIME_CHARACTERS));
    pair = 0;
  }
  return start + (PAIRS[pair] as string);
}

/** Where the last two characters of an id stand among the pairs. */
const pairOf = (id: string): number =>
  ALPHABET.length * ALPHABET.indexOf(id.charAt(id.length - 2)) + ALPHABET.indexOf(id.charAt(id.length - 1));

const TIME_CHARACTERS = 10;

export type IdPrefix =
  | "org"
  | "usr"
  | "prj"
  | "key"
  | "tkt"
  | "tup"
  | "rfd"
  | "inv"
  | "ivt"
  | "mnd"
  | "prk"
  | "sub"
  | "cn"
  | "pv"
  | "pk"
  | "ses"
  | "evt"
  | "aud"
  | "exp"
  | "job"
  | "sct"
  | "scu"
  | "scg"
  | "scl"
  | "whk"
  | "dlv"
  | "anu"
  | "conv";

/** A new request id for an instant (milliseconds since 1970). */
export const requestId = (nowMs: number): string => next(nowMs);

/** A new resource id, such as `key_01J…`. */
export const newId = (prefix: IdPrefix, nowMs: number): string => `${prefix}_${next(nowMs)}`;

/** Lower than any id that is made from an instant on, greater than those before. */
export const firstIdAt = (prefix: IdPrefix, ms: number): string => `${prefix}_${encodeTime(ms)}`;

const ID_CHARACTERS = 26;

/** An id derived from content, in the format of the others. @param digest of the content, 26 bytes or more */
export const contentId = (prefix: IdPrefix, digest: Uint8Array): string =>
  `${prefix}_${Array.from(digest.subarray(0, ID_CHARACTERS), (byte) => ALPHABET[byte & 31]).join("")}`;

/** When a request id was made, by the clock that it was made with: milliseconds since 1970, 4,000,000,000,000 at most. */
export function madeAtMs(requestId: string): number {
  let ms = 0;
  for (const character of requestId.slice(0, TIME_CHARACTERS))
    ms = ms * 32 + Math.max(0, ALPHABET.indexOf(character));
  return Math.min(ms, 4_000_000_000_000);
}

/** The last ten bits of a ULID: they count up among ULIDs of one millisecond. */
export const lastBits = (ulid: string): number =>
  Array.from(ulid.slice(-2), (character) => Math.max(0, ALPHABET.indexOf(character))).reduce(
    (bits, five) => bits * 32 + five,
    0,
  );

export const REQUEST_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Refuses a text that is no request id. Most such texts are ids of answers, which have a request id behind a prefix. */
export const NO_REQUEST_ID =
  "a request id has 26 digits and capital letters, as in the header x-svc-request-id of the call's answer, without a prefix such as chatcmpl- or resp_";
