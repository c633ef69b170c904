/**
 * The upstream without sockets: `net.connect` to its port gives a connection that answers each request with the reads of the
 * simulator's answer, one a turn of the event loop.
 */
import { syncBuiltinESMExports } from "node:module";
import net, { type Socket } from "node:net";

/** Nothing else is reached there: TCP gives this port away to no one (`tcpmux`). */
export const UPSTREAM_PORT = 1;

/** As uWebSockets.js and Node take options of a connection that reads into one buffer. */
interface Reads {
  readonly buffer: Uint8Array;
  readonly callback: (bytes: number, buffer: Uint8Array) => boolean;
}

const connectReally = net.connect;

/** A real connection: `install` replaces `net.connect`. */
export const connectTcp = (port: number): Socket => connectReally({ port, host: "127.0.0.1" });

export class MemoryUpstream {
  /** What each connection reads in answer to a request. */
  reads: readonly Uint8Array[] = [];

  /** Takes the place of `net.connect` for all modules. */
  install(): void {
    const connect = (options: unknown, ...others: unknown[]): unknown => {
      const asked = options as { readonly port?: number; readonly onread?: Reads };
      if (asked.port === UPSTREAM_PORT && asked.onread !== undefined)
        return new MemoryConnection(this, asked.onread);
      return Reflect.apply(connectReally, net, [options, ...others]);
    };
    Object.assign(net, { connect });
    syncBuiltinESMExports();
  }
}

/** Has what `src/inference/upstream` calls of a socket. */
class MemoryConnection {
  destroyed = false;
  /** Nothing waits to be sent. */
  readonly writableLength = 0;
  readonly #upstream: MemoryUpstream;
  readonly #into: Reads;
  #reads: readonly Uint8Array[] = [];
  #at = 0;
  readonly #readNext = (): void => {
    if (this.destroyed) return;
    const read = this.#reads[this.#at++];
    if (read === undefined) return;
    if (this.#at < this.#reads.length) setImmediate(this.#readNext);
    this.#into.buffer.set(read);
    this.#into.callback(read.length, this.#into.buffer);
  };

  constructor(upstream: MemoryUpstream, into: Reads) {
    this.#upstream = upstream;
    this.#into = into;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  once(event: string, listener: () => void): this {
    if (event === "connect") setImmediate(listener);
    return this;
  }

  on(): this {
    return this;
  }

  cork(): void {}

  uncork(): void {}

  /** The request is written in one piece; the answer follows it. */
  write(): boolean {
    this.#reads = this.#upstream.reads;
    this.#at = 0;
    setImmediate(this.#readNext);
    return true;
  }

  pause(): void {
    throw new Error("a client that keeps up pauses nothing");
  }

  resume(): void {}

  destroy(): this {
    this.destroyed = true;
    return this;
  }
}
