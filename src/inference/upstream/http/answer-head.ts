/** The head of an answer of HTTP/1.1: what it says of the answer, and where the answer ends (RFC 9112, 4 to 6). */
import { ProtocolError } from "./errors.ts";

/** The header fields of an answer that the gateway reads; of a repeated one the first, but for codings. Others are checked and dropped. */
const READ_FIELDS = [
  "content-type",
  "content-encoding",
  "retry-after",
  "retry-after-ms",
  "x-amzn-errortype",
] as const;

/** Read of errors alone: by these a proxy or a firewall is known that answers itself. */
const READ_OF_ERRORS = ["x-squid-error", "server", "cf-mitigated"] as const;

export type AnswerHeaders = Readonly<
  Partial<Record<(typeof READ_FIELDS)[number] | (typeof READ_OF_ERRORS)[number], string | undefined>>
>;

export interface AnswerHead {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** What ends the body: this number of bytes, the last of its chunks, or the connection. */
  readonly body: number | "chunked" | "to_close";
  /** Whether the connection cannot carry another answer. */
  readonly isLast: boolean;
  /** For how long the provider keeps the connection open, if it says so. */
  readonly keepAliveMs: number | undefined;
}

/** No white space before a colon, no folded lines, no bare CR or LF, no control character. */
const FIELDS = /^(?:\r\n[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** Names of all fields that are read of any answer. */
export const READ_NAMES: readonly string[] = [
  ...READ_FIELDS,
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding",
];

/** Names of other lengths need not be looked at. */
const READ_LENGTHS: ReadonlySet<number> = new Set(READ_NAMES.map((name) => name.length));

const READ_LENGTHS_OF_ERRORS: ReadonlySet<number> = new Set([
  ...READ_LENGTHS,
  ...READ_OF_ERRORS.map((name) => name.length),
]);

/** Whether these are lines of fields, a CRLF before each. */
export const areFields = (text: string): boolean => FIELDS.test(text);

/**
 * @param head latin1, without the empty line at its end
 * @returns undefined for a 1xx head, after which another one follows
 * @throws ProtocolError
 */
export function readHead(head: string): AnswerHead | undefined {
  const lineEnd = head.indexOf("\r\n");
  const line = lineEnd < 0 ? head : head.slice(0, lineEnd);
  const fields = lineEnd < 0 ? "" : head.slice(lineEnd);
  if (!STATUS_LINE.test(line) || !areFields(fields)) throw new ProtocolError("invalid_head");
  const status = Number(line.slice(9, 12));
  // No upgrade was asked for.
  if (status === 101) throw new ProtocolError("unexpected_upgrade");

  const { headers, length, encoding, connection, keepAlive } = readFields(
    fields,
    status < 400 ? READ_LENGTHS : READ_LENGTHS_OF_ERRORS,
  );
  if (length !== undefined && encoding !== undefined) throw new ProtocolError("invalid_content_length");
  if (status < 200) {
    // It has no content (RFC 9110, 15.2). A parser that believes such a field takes the next head for content.
    if (length !== undefined && length > 0) throw new ProtocolError("invalid_content_length");
    if (encoding !== undefined) throw new ProtocolError("invalid_transfer_encoding");
    return undefined;
  }
  // Compression was not asked for, and chunked is the only other coding that delimits an answer.
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked") {
    throw new ProtocolError("invalid_transfer_encoding");
  }
  const isHttp10 = line[7] === "0";
  // HTTP/1.0 knows no chunks: a proxy that passes them on does not understand them (RFC 9112, 6.1 and 9.3).
  const closes =
    hasToken(connection, "close") ||
    (isHttp10 && (encoding !== undefined || !hasToken(connection, "keep-alive")));
  const keepAliveMs = keepAliveOf(keepAlive);
  if (status === 204 || status === 304) {
    // Some send a body nevertheless, which would be taken for the next answer.
    const isLast = closes || (length ?? 0) > 0 || encoding !== undefined;
    return { status, headers, body: 0, isLast, keepAliveMs };
  }
  const body = encoding !== undefined ? "chunked" : (length ?? "to_close");
  return { status, headers, body, isLast: closes || body === "to_close", keepAliveMs };
}

interface Fields {
  readonly headers: AnswerHeaders;
  readonly length: number | undefined;
  readonly encoding: string | undefined;
  /** All fields of this name, joined. */
  readonly connection: string;
  readonly keepAlive: string;
}

/** Lower case by what servers write: few names in few ways, which need not be made lower each time. */
const lowered = new Map<string, string>();
const MOST_LOWERED = 200;

function lowerCase(name: string): string {
  let found = lowered.get(name);
  if (found === undefined) {
    found = name.toLowerCase();
    if (lowered.size < MOST_LOWERED) lowered.set(name, found);
  }
  return found;
}

/** @param lengths of the names that are read @throws ProtocolError */
function readFields(text: string, lengths: ReadonlySet<number>): Fields {
  const headers = new ReadHeaders();
  let length: number | undefined;
  let encoding: string | undefined;
  let connection = "";
  let keepAlive = "";
  let start = 2;
  while (start < text.length) {
    const colon = text.indexOf(":", start);
    let end = text.indexOf("\r\n", colon);
    if (end < 0) end = text.length;
    if (lengths.has(colon - start)) {
      const name = lowerCase(text.slice(start, colon));
      const value = trimmed(text, colon + 1, end);
      switch (name) {
        case "content-length":
          if (length !== undefined || !/^\d{1,15}$/.test(value))
            throw new ProtocolError("invalid_content_length");
          length = Number(value);
          break;
        case "transfer-encoding":
          encoding = encoding === undefined ? value : `${encoding}, ${value}`;
          break;
        case "connection":
          connection += `,${value}`;
          break;
        case "keep-alive":
          keepAlive += `,${value}`;
          break;
        default:
          headers.take(name, value);
      }
    }
    start = end + 2;
  }
  return { headers, length, encoding, connection, keepAlive };
}

/** One shape for all answers: members that are set by computed names cost more than all the rest. */
export class ReadHeaders implements AnswerHeaders {
  "content-type": string | undefined = undefined;
  "content-encoding": string | undefined = undefined;
  "retry-after": string | undefined = undefined;
  "retry-after-ms": string | undefined = undefined;
  "x-amzn-errortype": string | undefined = undefined;
  "x-squid-error": string | undefined = undefined;
  server: string | undefined = undefined;
  "cf-mitigated": string | undefined = undefined;

  take(name: string, value: string): void {
    if (name === "content-type") this["content-type"] ??= value;
    // One line for each coding is as one line for all (RFC 9110, 5.3).
    else if (name === "content-encoding")
      this["content-encoding"] =
        this["content-encoding"] === undefined ? value : `${this["content-encoding"]}, ${value}`;
    else if (isRead(name)) this[name] ??= value;
  }
}

const isRead = (name: string): name is keyof AnswerHeaders =>
  (READ_FIELDS as readonly string[]).includes(name) || (READ_OF_ERRORS as readonly string[]).includes(name);

/** The slice without the spaces and tabs around it; `trim` would remove more than RFC 9110, 5.6.3 allows. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

const isBlank = (character: string | undefined): boolean => character === " " || character === "\t";

const hasToken = (list: string, token: string): boolean =>
  list !== "" &&
  list
    .toLowerCase()
    .split(",")
    .some((part) => part.trim() === token);

/** `timeout=5, max=100`, in seconds (RFC 9112, C.2.2 names the field; its parameters are those of RFC 2068). */
export function keepAliveOf(value: string): number | undefined {
  if (value === "") return undefined;
  const seconds = /(?:^|[,\s])timeout\s*=\s*"?(\d{1,9})/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
