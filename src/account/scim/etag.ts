/**
 * Entity tags and preconditions (RFC 7644 section 3.14, RFC 9110 sections 8.8.3 and 13.1). Both headers are compared weakly:
 * RFC 9110 compares If-Match strongly, but SCIM's tags are weak and its clients send them in If-Match.
 */

/** Anything longer is no list that this service sent tags for. */
const MAX_CHARS = 8192;

/** Tags of a list; `*` for any; undefined if the header is malformed. */
function readTags(header: string): ReadonlySet<string> | "*" | undefined {
  const text = header.trim();
  if (text === "*") return "*";
  if (text.length > MAX_CHARS) return undefined;
  const tags = new Set<string>();
  // Sticky, and no two parts can match the same character: linear.
  const member = /[ \t]*(?:(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;
  while (member.lastIndex < text.length) {
    const match = member.exec(text);
    if (match === null) return undefined;
    if (match[1] !== undefined) tags.add(match[1]);
  }
  return tags;
}

const opaque = (etag: string): string => etag.replace(/^W\//, "").slice(1, -1);

/** Whether `If-Match` allows the act. @param header undefined if absent, which allows it @param etag of the resource as it is */
export function ifMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return true;
  const tags = readTags(header);
  return tags === "*" || tags?.has(opaque(etag)) === true;
}

/** Whether `If-None-Match` allows the act; if not, GET answers 304 and others 412. Parameters as of {@link ifMatch}. */
export function ifNoneMatch(header: string | undefined, etag: string): boolean {
  const tags = header === undefined ? undefined : readTags(header);
  return tags === undefined || (tags !== "*" && !tags.has(opaque(etag)));
}
