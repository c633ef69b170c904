/**
 * The framing of AWS event streams (`application/vnd.amazon.eventstream`): length, headers, payload and two checksums a
 * message, binary. Bytes come as latin1 text, cut anywhere. A frame that is not what it says ends the stream: behind it
 * nothing can be found again.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html, Smithy's "Amazon Event Stream"
 */
import { crc32 } from "node:zlib";
import { fail } from "../../base/errors.ts";
import { copied } from "../json/latin1.ts";

/** Names in lower case with their colon (`:event-type`); only those whose values are strings. */
export type FrameHeaders = Readonly<Record<string, string>>;

/** Total length, length of the headers, checksum of both. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const LENGTH_OF_TYPE: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const BYTES_TYPE = 6;
const STRING_TYPE = 7;

export class EventStreamDecoder {
  readonly #maxEventBytes: number;
  #pending = "";
  /** Bytes of the frame that is pending, once its prelude is there; before that, the prelude's. */
  #wanted = PRELUDE_BYTES;
  /** Most frames of a stream have the same headers. */
  #headerText = "";
  #headers: FrameHeaders = {};

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Bytes of a frame that has not ended yet. */
  get pendingBytes(): number {
    return this.#pending.length;
  }

  /**
   * Takes one read and calls `each` for every frame completed by it; `payload` is latin1.
   * @throws WeirError `upstream_invalid_response` on a frame that is damaged or larger than the bound.
   */
  push(read: string, each: (headers: FrameHeaders, payload: string) => void): void {
    const text = this.#pending === "" ? read : this.#pending + read;
    let from = 0;
    this.#pending = "";
    while (text.length - from >= this.#wanted) {
      if (this.#wanted === PRELUDE_BYTES) {
        this.#wanted = this.#frameLength(text.slice(from, from + PRELUDE_BYTES));
        continue;
      }
      const frame = text.slice(from, from + this.#wanted);
      from += this.#wanted;
      this.#wanted = PRELUDE_BYTES;
      this.#deliver(frame, each);
    }
    this.#pending = from === 0 ? text : text.slice(from);
  }

  #frameLength(prelude: string): number {
    const bytes = Buffer.from(prelude, "latin1");
    const length = bytes.readUInt32BE(0);
    if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw damaged();
    if (length < PRELUDE_BYTES + bytes.readUInt32BE(4) + CHECKSUM_BYTES) throw damaged();
    if (length > this.#maxEventBytes) {
      throw fail("upstream_invalid_response", "The provider sent an event larger than the gateway takes.");
    }
    return length;
  }

  #deliver(frame: string, each: (headers: FrameHeaders, payload: string) => void): void {
    const bytes = Buffer.from(frame, "latin1");
    const end = bytes.length - CHECKSUM_BYTES;
    if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw damaged();
    const payloadStart = PRELUDE_BYTES + bytes.readUInt32BE(4);
    const headerText = frame.slice(PRELUDE_BYTES, payloadStart);
    if (headerText !== this.#headerText) {
      this.#headers = readHeaders(bytes.subarray(PRELUDE_BYTES, payloadStart));
      this.#headerText = copied(headerText);
    }
    each(this.#headers, frame.slice(payloadStart, end));
  }
}

/** A frame of an event, as the service writes it: latin1. @param payload for JSON.stringify */
export function eventFrame(type: string, payload: object): string {
  const headers = [
    [":event-type", type],
    [":content-type", "application/json"],
    [":message-type", "event"],
  ].map(([name = "", value = ""]) => {
    const bytes = Buffer.alloc(name.length + value.length + 4);
    bytes.writeUInt8(name.length, 0);
    bytes.write(name, 1);
    bytes.writeUInt8(STRING_TYPE, name.length + 1);
    bytes.writeUInt16BE(value.length, name.length + 2);
    bytes.write(value, name.length + 4);
    return bytes;
  });
  const head = Buffer.concat(headers);
  const body = Buffer.from(JSON.stringify(payload));
  const length = PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES;
  const frame = Buffer.alloc(length);
  frame.writeUInt32BE(length, 0);
  frame.writeUInt32BE(head.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  frame.set(head, PRELUDE_BYTES);
  frame.set(body, PRELUDE_BYTES + head.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, length - CHECKSUM_BYTES)), length - CHECKSUM_BYTES);
  return frame.toString("latin1");
}

function readHeaders(bytes: Buffer): FrameHeaders {
  const headers: Record<string, string> = Object.create(null);
  let at = 0;
  /** Where so many bytes begin; they must be there. */
  const take = (length: number): number => {
    const start = at;
    at += length;
    if (at > bytes.length) throw damaged();
    return start;
  };
  while (at < bytes.length) {
    const nameLength = bytes.readUInt8(take(1));
    const nameStart = take(nameLength);
    const name = bytes.toString("utf8", nameStart, at);
    const type = bytes.readUInt8(take(1));
    if (type !== STRING_TYPE && type !== BYTES_TYPE) {
      const length = LENGTH_OF_TYPE[type];
      if (length === undefined) throw damaged();
      take(length);
      continue;
    }
    const length = bytes.readUInt16BE(take(2));
    const start = take(length);
    if (type === STRING_TYPE) headers[name.toLowerCase()] = bytes.toString("utf8", start, at);
  }
  return headers;
}

const damaged = () => fail("upstream_invalid_response", "The provider sent a damaged event stream.");
