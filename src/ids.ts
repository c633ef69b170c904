/**
 * Identifiers: request ids are bare ULIDs (26 characters, Crockford base 32), resources a prefix plus a ULID.
 * Monotonic within this process, so that ids sort in the order they were made.
 */
import { monotonicFactory } from "ulid";
import { systemRandom } from "./clock.ts";

const next = monotonicFactory(systemRandom);

export type IdPrefix =
  | "org"
  | "usr"
  | "prj"
  | "key"
  | "tkt"
  | "tup"
  | "rfd"
  | "inv"
  | "mnd"
  | "cn"
  | "pv"
  | "pk";

/** A new request id for an instant (milliseconds since 1970). */
export const requestId = (nowMs: number): string => next(nowMs);

/** A new resource id, such as `key_01J…`. */
export const newId = (prefix: IdPrefix, nowMs: number): string => `${prefix}_${next(nowMs)}`;

export const REQUEST_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;
