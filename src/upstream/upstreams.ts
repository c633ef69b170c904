/**
 * Calls providers over HTTP/1.1: one undici pool an origin, handlers instead of streams. The only file that opens a
 * connection to a provider. A pool is never closed while the process serves: no call can lose its connection to an
 * eviction (T63).
 */
import type { Socket } from "node:net";
import { type Dispatcher, Pool } from "undici";
import type { Endpoint, Provider } from "../endpoint.ts";
import { failure, networkFailure, type UpstreamFailure } from "./failure.ts";

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What a call tells, in this order: `head` once, `data` any number of times, then one of `end` and `failed`. */
export interface UpstreamHandler {
  head(status: number, headers: UpstreamHeaders): void;
  /** Valid beyond the call; not to be written to. */
  data(chunk: Buffer): void;
  end(): void;
  /** Not called after `cancel`. */
  failed(failure: UpstreamFailure): void;
}

export interface UpstreamCall {
  /** Closes the connection at once. */
  cancel(): void;
  pause(): void;
  resume(): void;
}

export type Body = Buffer | readonly Uint8Array[];

export interface UpstreamOptions {
  readonly connectTimeoutMs: number;
}

export interface Upstreams {
  /** @param body in one piece, or in parts that are written one after the other. */
  call(endpoint: Endpoint, body: Body, stream: boolean, handler: UpstreamHandler): UpstreamCall;
  /** Last four characters of the provider's credential, for the record. */
  keyHint(provider: Provider): string;
  /** Closes idle connections and waits for calls under way. */
  close(): Promise<void>;
}

/** What every call to one provider has in common, made once. */
interface Line {
  readonly pool: Pool;
  readonly path: string;
  readonly headers: string[];
  readonly streamHeaders: string[];
}

/** A paused call must stay small (T10): Node stops reading a socket at this many bytes; one more read is under way. */
const SOCKET_BUFFER_BYTES = 16 * 1024;

/**
 * Reads of plain sockets land here and are copied out at their size: Node would allocate 64 KB for each. (TLS hands
 * out its records, which are small.)
 */
const landing = Buffer.allocUnsafeSlow(SOCKET_BUFFER_BYTES);

const landed = {
  buffer: landing,
  callback(this: Socket, bytes: number): boolean {
    const copy = Buffer.allocUnsafe(bytes);
    landing.copy(copy, 0, 0, bytes);
    return this.push(copy);
  },
};

export function openUpstreams(options: UpstreamOptions): Upstreams {
  const pools = new Map<string, Pool>();
  const lines = new WeakMap<Provider, Line>();

  const poolOf = (origin: string): Pool => {
    let pool = pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: null,
        pipelining: 1,
        allowH2: false,
        // Timeouts on answers belong to the exchange, which knows whether a first byte has come.
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: 30_000,
        connect: {
          timeout: options.connectTimeoutMs,
          highWaterMark: SOCKET_BUFFER_BYTES,
          ...(origin.startsWith("http:") && { onread: landed }),
        } as object,
      });
      pools.set(origin, pool);
    }
    return pool;
  };

  const lineOf = (provider: Provider): Line => {
    let line = lines.get(provider);
    if (line === undefined) {
      const url = new URL(provider.baseUrl);
      // What comes compressed could not be passed on byte by byte.
      const headers = [
        "content-type",
        "application/json",
        "user-agent",
        "weir",
        "accept-encoding",
        "identity",
      ];
      if (provider.credential !== undefined) headers.push("authorization", `Bearer ${provider.credential}`);
      line = {
        pool: poolOf(url.origin),
        path: `${url.pathname.replace(/\/$/, "")}/chat/completions${url.search}`,
        headers: [...headers, "accept", "application/json"],
        streamHeaders: [...headers, "accept", "text/event-stream"],
      };
      lines.set(provider, line);
    }
    return line;
  };

  return {
    call(endpoint, body, stream, handler) {
      const line = lineOf(endpoint.provider);
      const { pool, path } = line;
      const call = new Call(handler);
      const headers = stream ? line.streamHeaders : line.headers;
      if (Buffer.isBuffer(body)) pool.dispatch({ method: "POST", path, headers, body }, call);
      else pool.dispatch({ method: "POST", path, ...inParts(headers, body) }, call);
      return call;
    },
    keyHint: ({ credential }) => (credential === undefined ? "" : credential.slice(-4)),
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

/** undici writes an iterable chunk by chunk; of its length it must be told. */
function inParts(
  headers: readonly string[],
  parts: readonly Uint8Array[],
): Pick<Dispatcher.DispatchOptions, "headers" | "body"> {
  let bytes = 0;
  for (const part of parts) bytes += part.length;
  return { headers: [...headers, "content-length", String(bytes)], body: parts as unknown as Buffer };
}

const CANCELLED = new Error("cancelled");
const ENCODED = { code: "content_encoding", type: "", message: "" };

class Call implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #handler: UpstreamHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #over = false;

  constructor(handler: UpstreamHandler) {
    this.#handler = handler;
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#controller?.abort(CANCELLED);
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Cancelled while it waited for a connection.
    if (this.#over) controller.abort(CANCELLED);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: UpstreamHeaders): void {
    // Slices of the first read: they would keep its 64 KB alive as long as the call lasts.
    controller.rawHeaders = null;
    // 1xx answers precede the real one.
    if (this.#over || status < 200) return;
    this.#status = status;
    if (status < 300 && (headers["content-encoding"] ?? "identity") !== "identity") {
      this.cancel();
      this.#handler.failed(failure("invalid_response", "protocol", status, ENCODED));
      return;
    }
    this.#handler.head(status, headers);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over) this.#handler.data(chunk);
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#handler.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#handler.failed(networkFailure(error, this.#status));
  }
}
