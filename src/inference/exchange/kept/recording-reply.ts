/** The client of a call with an `Idempotency-Key`: what it gets is recorded for repetitions of the request. */
import { type ClientReply, isFiller } from "../../client-reply.ts";

/** Passes an answer on and records it, up to a maximum size. */
export class RecordingReply implements ClientReply {
  #reply: ClientReply;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #filler = "";
  /** Its events get numbers behind this. */
  #isNumbered = false;
  /** The client left, and the call continues, so that a repetition of its request gets the answer. */
  #runsWithoutClient = false;
  #resume: (() => void) | undefined;
  /** Called when the client leaves: whether the call continues without it. */
  mayRunWithoutClient: () => boolean = () => false;

  constructor(reply: ClientReply, maxBytes: number) {
    this.#reply = reply;
    this.#maxBytes = maxBytes;
  }

  /** From now on the answer goes to another client. */
  passThrough(over: (client: ClientReply) => ClientReply): void {
    this.#reply = over(this.#reply);
    this.#isNumbered = true;
  }

  get gone(): boolean {
    return this.#reply.gone && !this.#runsWithoutClient;
  }

  /** Bytes of the answer, if it is kept: 0 where it exceeded the maximum size. */
  bytesWith(last: Buffer): number {
    const bytes = this.#bytes + last.length;
    return bytes > this.#maxBytes ? 0 : bytes;
  }

  /** The whole answer; undefined if it exceeded the maximum size. */
  with(last: Buffer): Buffer | undefined {
    return this.#bytes + last.length > this.#maxBytes ? undefined : Buffer.concat([...this.#parts, last]);
  }

  send(status: number, headers: string, body: Buffer | string): void {
    this.#reply.send(status, headers, body);
  }

  sendJson(status: number, headers: string, body: Buffer | string): void {
    this.#reply.sendJson(status, headers, body);
  }

  openStream(headers: string, filler: string): void {
    this.#filler = filler;
    this.#reply.openStream(headers, filler);
  }

  write(chunk: Buffer): boolean {
    // A repetition gets the same numbers of events, and this has none.
    if (this.#isNumbered && isFiller(chunk, this.#filler)) return this.#reply.write(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#maxBytes) this.#parts.push(Buffer.from(chunk));
    else this.#parts = [];
    return this.#reply.write(chunk);
  }

  end(chunk?: Buffer): void {
    this.#reply.end(chunk);
  }

  abort(): void {
    this.#reply.abort();
  }

  onDrain(resume: () => void): void {
    this.#resume = resume;
    this.#reply.onDrain(resume);
  }

  onGone(gone: () => void): void {
    this.#reply.onGone(() => {
      // A later step of a call that runs without its client since an earlier one.
      if (this.#runsWithoutClient) return;
      this.#runsWithoutClient = this.mayRunWithoutClient();
      // The client is gone: the upstream need not wait until it reads.
      if (this.#runsWithoutClient) this.#resume?.();
      else gone();
    });
  }
}
