/** `Content-Encoding` of requests: the codings that are taken, and the list that a header names (RFC 9110, sections 8.4 and 15.5.16). */
import { fail, type WeirError } from "../../base/errors.ts";

export type Coding = "gzip" | "deflate" | "br" | "zstd";

/** The best first, as clients that choose by it should choose. */
const TAKEN: readonly Coding[] = ["zstd", "br", "gzip", "deflate"];
/** The same coding under other names; `identity` is none. */
const NAMES: ReadonlyMap<string, Coding | undefined> = new Map([
  ...TAKEN.map((coding) => [coding, coding] as const),
  ["x-gzip", "gzip"],
  ["identity", undefined],
  ["", undefined],
]);
/** Each of them is decompressed, and counts, by itself. */
const MOST_CODINGS = 3;
const MOST_CHARACTERS = 200;

/** In the order in which they were applied. */
export function codingsOf(header: string): readonly Coding[] | WeirError {
  const names = header
    .slice(0, MOST_CHARACTERS)
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const unknown = names.find((name) => !NAMES.has(name));
  const codings = names.flatMap((name) => NAMES.get(name) ?? []);
  if (unknown !== undefined) return notTaken(`Content-Encoding "${unknown.slice(0, 40)}" is not supported`);
  if (codings.length > MOST_CODINGS || header.length > MOST_CHARACTERS)
    return notTaken(`Content-Encoding lists more than ${MOST_CODINGS} encodings`);
  return codings;
}

const notTaken = (what: string): WeirError =>
  fail("unsupported_media_type", `${what}: send ${TAKEN.join(", ")} or identity.`, {
    details: { accept_encoding: TAKEN },
  });

/** Says what is taken where that was the fault of a body, and must not be said of another fault. */
export function acceptEncodingHeader({ details }: WeirError): readonly string[] {
  return details?.accept_encoding === TAKEN ? ["accept-encoding", TAKEN.join(", ")] : [];
}
