/** The addresses of one call, fetched at the same time within the call's bounds. The first failure ends them all. */
import type { Timers } from "../../../base/clock.ts";
import { fail, WeirError } from "../../../base/errors.ts";
import type { BodySink } from "../../../outbound/attempt.ts";
import { type BodyHead, download, downloadFault } from "../../../outbound/download.ts";
import { OutboundError } from "../../../outbound/failure.ts";
import type { OutboundRules } from "../../../outbound/rules.ts";
import type { Outbound } from "../../../outbound/send.ts";
import type { Slots } from "../../../outbound/slots.ts";
import { isVague, kindOf, rightType, typeOfAddress } from "../../../wire/media/types.ts";
import type { MediaAddress } from "../../../wire/media-addresses.ts";
import type { FetchedMedia } from "../../../wire/neutral/source.ts";
import { Base64Memory, base64Length } from "./base64-memory.ts";
import type { MediaShare } from "./media-budget.ts";

export interface FetchBounds {
  /** Bytes that one address may stand for. */
  readonly maxBytes: number;
  /** Bytes of base64 that all addresses of a call may stand for. */
  readonly maxCallBytes: number;
  /** For all addresses of a call together, the wait for a turn included. */
  readonly timeoutMs: number;
}

export interface FetchingInput {
  readonly outbound: Pick<Outbound, "send">;
  readonly rules: OutboundRules;
  readonly share: MediaShare;
  readonly bounds: FetchBounds;
  readonly timers: Timers;
  /** Turns, by org. */
  readonly slots: Slots;
  readonly orgId: string;
}

const NOUNS: Readonly<Record<MediaAddress["kind"], string>> = {
  image: "image",
  document: "document",
  audio: "sound",
  video: "video",
};

const ACCEPT: Readonly<Record<MediaAddress["kind"], string>> = {
  image: "image/*, application/pdf;q=0.5",
  document: "application/pdf, text/*;q=0.9, */*;q=0.8",
  audio: "audio/*",
  video: "video/*",
};

const PDF = "application/pdf";

/** Each piece of a body costs the gateway some microseconds, a byte of it next to nothing. So many may be smaller than `MIN_PIECE`. */
const MAX_PIECES = 1000;
/** Bytes. */
const MIN_PIECE = 256;

export class Fetching {
  readonly #input: FetchingInput;
  readonly #ended = new AbortController();
  /** Why it was ended from outside. */
  #reason: Error | undefined;
  #isLate = false;

  constructor(input: FetchingInput) {
    this.#input = input;
  }

  /** Ends the fetches that run: `all` rejects with the reason. */
  stop(reason: Error): void {
    this.#reason ??= reason;
    this.#ended.abort();
  }

  /**
   * What the addresses stand for, in their order.
   * @throws WeirError 400 naming the part of the first address that failed, 429 where there is no room; the reason of `stop`
   */
  async all(addresses: readonly MediaAddress[]): Promise<FetchedMedia[]> {
    const { timers, bounds } = this.#input;
    const cancel = timers.after(bounds.timeoutMs, () => {
      this.#isLate = true;
      this.#ended.abort();
    });
    try {
      return await Promise.all(addresses.map((address) => this.#turn(address)));
    } catch (error) {
      throw this.#reason ?? error;
    } finally {
      cancel();
      // The others of a failed call are not needed any more.
      this.#ended.abort();
    }
  }

  async #turn(address: MediaAddress): Promise<FetchedMedia> {
    const { slots, orgId } = this.#input;
    const { signal } = this.#ended;
    let hasWaited = false;
    try {
      if (signal.aborted) throw new OutboundError("cancelled");
      hasWaited = !slots.take(orgId);
      if (hasWaited) await slots.wait(orgId, signal);
    } catch (error) {
      throw this.#failure(error, address, hasWaited);
    }
    try {
      return await this.#one(address);
    } catch (error) {
      throw this.#failure(error, address, hasWaited);
    } finally {
      slots.release(orgId);
    }
  }

  async #one(address: MediaAddress): Promise<FetchedMedia> {
    const { outbound, rules, bounds } = this.#input;
    const memory = new Base64Memory(bounds.maxBytes);
    let mediaType = "";
    let bytes = 0;
    let pieces = 0;
    /** Why the rest was not read. */
    let fault: WeirError | undefined;
    const take = (chunk: Buffer): boolean => {
      const before = bytes;
      bytes += chunk.length;
      if (bytes > bounds.maxBytes) fault = faultOf(address, tooLarge(bounds));
      else if (++pieces > MAX_PIECES + bytes / MIN_PIECE) fault = faultOf(address, TOO_SMALL);
      else fault = this.#noRoom(base64Length(bytes) - base64Length(before), address);
      if (fault !== undefined) return false;
      memory.add(chunk);
      return true;
    };
    const begin = (head: BodyHead): BodySink | string => {
      mediaType = head.contentType;
      if (head.bytes !== undefined && head.bytes > bounds.maxBytes) return tooLarge(bounds);
      return typeFault(address, mediaType) ?? { take };
    };
    const { url, kind } = address;
    const { signal } = this.#ended;
    await download(outbound, {
      url,
      rules,
      begin,
      signal,
      accept: ACCEPT[kind],
      timeoutMs: bounds.timeoutMs,
    });
    if (fault !== undefined) throw fault;
    if (bytes === 0) throw faultOf(address, "Its server sent no byte of it.");
    return { url, mediaType, base64: memory.end() };
  }

  /** @param bytes of base64 */
  #noRoom(bytes: number, address: MediaAddress): WeirError | undefined {
    const { share, bounds } = this.#input;
    const lacking = share.take(bytes);
    if (lacking === "all") return full();
    if (lacking === undefined) return undefined;
    const why = `All media that the call names by address are larger than ${bounds.maxCallBytes} bytes together (as base64).`;
    return faultOf(address, why);
  }

  /** @param hasWaited for its turn: then the gateway had too little time for it, and its server is not to blame */
  #failure(error: unknown, address: MediaAddress, hasWaited: boolean): unknown {
    if (error instanceof WeirError || this.#reason !== undefined) return error;
    if (this.#isLate && hasWaited) return full();
    if (this.#isLate) return faultOf(address, `It took more than ${this.#input.bounds.timeoutMs} ms.`);
    if (error instanceof OutboundError && error.kind === "busy") return full();
    const why = downloadFault(error);
    return why === undefined ? error : faultOf(address, why);
  }
}

const FULL = "The gateway fetches as much from addresses as it may. Try again, or send the data instead.";

const full = (): WeirError => fail("concurrency", FULL, { retryAfterMs: 1000 });

const TOO_SMALL = "Its server sends it in pieces of a few bytes.";

const tooLarge = ({ maxBytes }: FetchBounds): string => `It is larger than ${maxBytes} bytes.`;

const faultOf = ({ kind, at }: MediaAddress, why: string): WeirError =>
  fail("invalid_value", `${at}: the ${NOUNS[kind]} at this address could not be fetched. ${why}`, {
    param: at,
  });

/** Why what the server announces is nothing that the part can be; its first bytes tell more, once they are here. */
function typeFault({ kind, url }: MediaAddress, contentType: string): string | undefined {
  const type = rightType(contentType);
  if (isVague(type) || type === PDF) return undefined;
  const isDocument = kindOf(type) === "document";
  // Pages to sign in, and of errors, come with status 200.
  const isPage = type === "text/html" && (kind !== "document" || typeOfAddress(url) === PDF);
  if (!isPage && (kind === "document" || !isDocument)) return undefined;
  return `Its server says that it is of type ${JSON.stringify(type.slice(0, 100))}.`;
}
