/** The bytes of a request of HTTP/1.1. */
import type { Forwarding } from "./route.ts";

export interface OutgoingRequest {
  /** Request line and fields of a POST, as `requestHead` writes them: only the length of the body is missing. Latin1. */
  readonly head: string;
  /** What {@link startBytes} makes of the head, where many requests have it. */
  readonly start?: Uint8Array | undefined;
  readonly parts: readonly Uint8Array[];
}

/** The bytes of a head up to the length of the body. */
export const startBytes = (head: string): Uint8Array => Buffer.from(`${head}${LENGTH_NAME}`, "latin1");

const LENGTH_NAME = "content-length: ";

/** Smaller requests are joined: one write costs less than the copy. */
const JOIN_BYTES = 64 * 1024;

/** Fields that say where a message ends or what becomes of the connection: only `requestHead` writes them. */
const FRAMING: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TARGET = /^\/[\x21-\xff]*$/;

/**
 * @param headers alternating names and values
 * @param forwarding where a proxy of HTTP gets the request
 * @throws TypeError for what would not arrive as one request with these fields; the message names the field, never its value
 */
export function requestHead(
  host: string,
  target: string,
  headers: readonly string[],
  forwarding?: Forwarding,
): string {
  if (!TARGET.test(target)) throw new TypeError("The path of the request has characters that HTTP forbids.");
  const origin = forwarding?.origin ?? "";
  const fields = forwarding?.fields ?? "";
  let head = `POST ${origin}${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${fields}`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    if (!NAME.test(name)) throw new TypeError("The name of a header has characters that HTTP forbids.");
    if (FRAMING.has(name.toLowerCase())) throw new TypeError(`The header ${name} is set by the gateway.`);
    if (!VALUE.test(value)) throw new TypeError(`The header ${name} has characters that HTTP forbids.`);
    head += `${name}: ${value}\r\n`;
  }
  return head;
}

const ZERO = 0x30;
const CR = 0x0d;
const LF = 0x0a;
/** The ends of the line of the length and of the head. */
const END_BYTES = 4;

/** The request as buffers that are to be written one after the other; large parts are not copied. */
export function requestBytes({
  head,
  start = startBytes(head),
  parts,
}: OutgoingRequest): readonly Uint8Array[] {
  let bodyBytes = 0;
  for (const part of parts) bodyBytes += part.length;
  if (bodyBytes > JOIN_BYTES)
    return [Buffer.from(`${head}${LENGTH_NAME}${bodyBytes}\r\n\r\n`, "latin1"), ...parts];
  let digits = 1;
  for (let rest = bodyBytes; rest > 9; rest = Math.floor(rest / 10)) digits++;
  const bytes = Buffer.allocUnsafe(start.length + digits + END_BYTES + bodyBytes);
  bytes.set(start);
  let at = start.length + digits;
  for (let i = at - 1, rest = bodyBytes; i >= start.length; i--, rest = Math.floor(rest / 10))
    bytes[i] = ZERO + (rest % 10);
  bytes[at++] = CR;
  bytes[at++] = LF;
  bytes[at++] = CR;
  bytes[at++] = LF;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return [bytes];
}
