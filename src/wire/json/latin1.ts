/**
 * Bytes as text and text as bytes, one character a byte: a stream is worked on as such text, which no cut inside a
 * character can damage. All go through one buffer, for one synchronous moment: memory of its own for each of them would
 * cost more than all else that is done with a streamed token.
 */

/** Larger than any read but of upstreams that send few large events: those pay for memory of their own. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** The bytes of a text, to be used at once: the next call of any function here overwrites them. */
export function passingBytes(text: string): Buffer {
  if (text.length > scratch.length) return Buffer.from(text, "latin1");
  return scratch.subarray(0, scratch.write(text, "latin1"));
}

/** Shorter texts have memory of their own always: V8 slices and joins longer ones only. */
const LEAST_SHARED = 13;

/** The same text on memory of its own: a slice of a read keeps all of the read alive, as long as the stream lasts (T10). */
export function copied(text: string): string {
  if (text.length < LEAST_SHARED) return text;
  if (text.length > scratch.length) return Buffer.from(text, "latin1").toString("latin1");
  return scratch.toString("latin1", 0, scratch.write(text, "latin1"));
}

/** `startsWith` at a position; comparing a slice is three times faster, and this is what a streamed token costs. */
export const stands = (part: string, text: string, at: number): boolean =>
  at + part.length <= text.length && text.slice(at, at + part.length) === part;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;

/**
 * JSON of one character a byte without line ends, as a line of an event must be. They are between values alone. A text may be nothing
 * else, and an expression takes long for each.
 */
export function onOneLine(json: string): string {
  if (!json.includes("\n") && !json.includes("\r")) return json;
  const bytes = Buffer.from(json, "latin1");
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === LINE_FEED || bytes[i] === CARRIAGE_RETURN) bytes[i] = SPACE;
  }
  return bytes.toString("latin1");
}
