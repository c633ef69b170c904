/** Times of SCIM: xsd:dateTime (RFC 7643 section 2.3.5), compared as instants. */

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)?$/;

/** Milliseconds since 1970; UTC if no zone is given; undefined for anything else than a time. */
export function readInstant(value: unknown): number | undefined {
  const match = typeof value === "string" ? DATE_TIME.exec(value) : null;
  if (match === null) return undefined;
  const ms = Date.parse(match[1] === undefined ? `${value}Z` : String(value));
  return Number.isNaN(ms) ? undefined : ms;
}
