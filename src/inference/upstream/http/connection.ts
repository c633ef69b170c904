/**
 * One connection to a provider, which carries one request after the other, never two at once: whose answer it is must not
 * depend on counting.
 */
import { connect as connectTcp, type Socket } from "node:net";
import { reads } from "../../../base/scan/runs.ts";
import type { AnswerHeaders } from "./answer-head.ts";
import { openTls, type Peer, peerOf, proxyPeerOf, type Sessions } from "./dial.ts";
import { ClosedError, ConnectError, codeOf } from "./errors.ts";
import { isQuiet } from "./look.ts";
import { answerOfProxy } from "./proxy-answer.ts";
import { type OutgoingRequest, requestBytes } from "./request.ts";
import { type ParserSink, ResponseParser } from "./response-parser.ts";
import type { ProxyRoute, Route } from "./route.ts";
import { ofProxy, openTunnel } from "./tunnel.ts";

/**
 * Receives one answer: `onSent` first, `onHead` once, `onData` any number of times, then one of `onEnd` and `onError`. `onReadOver` comes
 * behind the data of a read.
 */
export interface AnswerHandler {
  /** Nothing is wanted any more: a request that was not sent yet is not sent. */
  readonly over: boolean;
  /** The request was written. Until its end, `connection` can be paused or aborted. */
  onSent(connection: OpenConnection): void;
  onHead(status: number, headers: AnswerHeaders): void;
  /**
   * Content: `bytes` from `start` up to `end`, in one piece or several for a read. The next read overwrites the memory: a handler copies
   * what it keeps longer than the current turn.
   */
  onData(bytes: Buffer, start: number, end: number): void;
  /** All data were told that have arrived by now. Not called where the end follows them at once. */
  onReadOver?(): void;
  onEnd(): void;
  /** @param error a `ConnectError` if nothing was sent */
  onError(error: unknown): void;
}

/** A connection as the handler of its request sees it. */
export interface OpenConnection {
  /** Closes it at once; the handler receives nothing more. */
  abort(): void;
  /** Stops reading, so that the provider has to wait. */
  pause(): void;
  resume(): void;
}

/** The pool that a connection belongs to. */
export interface ConnectionOwner {
  /** It can carry another request. */
  onFree(connection: Connection): void;
  /** Called once, for one that could not be opened too. */
  onClosed(connection: Connection): void;
  /** It was closed while it was idle: its request was not sent, and needs another one. */
  onUnsent(request: OutgoingRequest, handler: AnswerHandler): void;
}

export interface ConnectOptions {
  readonly route: Route;
  /** For all that has to be opened: the connection, the proxy's tunnel, TLS. */
  readonly connectTimeoutMs: number;
  /** Those of earlier connections on the same route; the next ones are put there. */
  readonly sessions: Sessions;
}

/** TCP asks a silent peer after this time whether it is still there. */
const PROBE_AFTER_MS = 60_000;
/** Idle connections are kept this long where the provider says nothing else. */
const IDLE_MS = 30_000;
/** Closed this much earlier than the provider would: it must not close while a request is on its way. */
const IDLE_MARGIN_MS = 2_000;
const MAX_IDLE_MS = 600_000;

/**
 * Plain sockets read into this memory, one after the other: Node would allocate 64 KB for each read. (TLS delivers its
 * records, which are small.) What one read may bring, and so what a paused call may hold, must stay small (T10).
 */
const landing = reads;

export class Connection implements OpenConnection, ParserSink {
  /** Closed then, if it is idle until then; monotonic. */
  idleUntilMs = 0;
  readonly #owner: ConnectionOwner;
  readonly #isForwarded: boolean;
  /** To the proxy, while it opens a tunnel. */
  #socket: Socket;
  readonly #parser = new ResponseParser(this);
  /** Reserved for this request, which is not sent yet. */
  #request: OutgoingRequest | undefined;
  /** The handler of the request that it is reserved for, or carries. */
  #handler: AnswerHandler | undefined;
  #isSent = false;
  /** Without TLS, of which a byte must not be taken. */
  #isPlain = false;
  #isPaused = false;
  /** The handler will be told at the end of the turn that a read is over. */
  #isOverSoon = false;
  /** The proxy is what it waits for, until there is a tunnel. */
  #isAtProxy = false;
  /** Defined while it is being opened. */
  #connectTimer: NodeJS.Timeout | undefined;
  /** What it is closed for. */
  #error: unknown;

  /** Opens a connection for a request, which is sent as soon as it is open. */
  constructor(
    options: ConnectOptions,
    owner: ConnectionOwner,
    request: OutgoingRequest,
    handler: AnswerHandler,
  ) {
    this.#owner = owner;
    this.reserve(request, handler);
    const { route, connectTimeoutMs } = options;
    this.#isForwarded = route.kind === "forwarded";
    this.#socket =
      route.kind === "tunnelled" ? this.#openTunnel(route, options) : this.#open(route, options.sessions);
    this.#connectTimer = setTimeout(
      () => this.#socket.destroy(new ConnectError(this.#isAtProxy ? "proxy_timeout" : "connect_timeout")),
      connectTimeoutMs,
    );
  }

  /** How long it may be idle, after what the provider has said with its last answer. */
  get idleMs(): number {
    const { keepAliveMs } = this.#parser;
    return keepAliveMs === undefined ? IDLE_MS : Math.min(keepAliveMs - IDLE_MARGIN_MS, MAX_IDLE_MS);
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** Takes a request, to send it at `sendReserved`. The connection must be free. */
  reserve(request: OutgoingRequest, handler: AnswerHandler): void {
    this.#request = request;
    this.#handler = handler;
  }

  /**
   * Sends the request of a connection that need not wait for the event loop: what its provider has done is seen at once.
   * @returns false where it cannot be seen; nothing is sent then
   */
  sendIfQuiet(): boolean {
    const quiet = this.#isPlain && !this.isClosed ? isQuiet(this.#socket) : undefined;
    if (quiet === undefined) return false;
    // Its end sends the request on.
    if (quiet) this.sendReserved();
    else this.#socket.destroy();
    return true;
  }

  sendReserved(): void {
    const request = this.#request;
    const handler = this.#handler;
    // If it was closed meanwhile, its end sends the request on.
    if (request === undefined || handler === undefined || this.isClosed) return;
    this.#request = undefined;
    if (handler.over) {
      this.#handler = undefined;
      this.#owner.onFree(this);
      return;
    }
    this.#isSent = true;
    this.#parser.begin();
    const socket = this.#socket;
    const buffers = requestBytes(request);
    if (buffers.length > 1) socket.cork();
    for (const buffer of buffers) socket.write(buffer);
    if (buffers.length > 1) socket.uncork();
    handler.onSent(this);
  }

  /** Closes it; the handler of a request under way receives nothing more. */
  abort(): void {
    this.#request = undefined;
    this.#handler = undefined;
    this.#parser.stop();
    this.#socket.destroy();
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  // -- ParserSink --

  onHead(status: number, headers: AnswerHeaders): void {
    const fault = this.#isForwarded ? answerOfProxy(status, headers) : undefined;
    if (fault !== undefined) this.#fail(fault);
    else this.#handler?.onHead(status, headers);
  }

  onData(bytes: Buffer, start: number, end: number): void {
    this.#handler?.onData(bytes, start, end);
  }

  onEnd(isLast: boolean): void {
    const handler = this.#handler;
    this.#handler = undefined;
    this.#isSent = false;
    // An answer before all of the request was sent: its rest would be taken for the next request.
    if (isLast || this.#socket.writableLength > 0) {
      this.#socket.destroy();
    } else {
      this.resume();
      this.#owner.onFree(this);
    }
    handler?.onEnd();
  }

  // -- the socket --

  /** To the provider, or to the proxy that gets its requests. */
  #open(route: Route, sessions: Sessions): Socket {
    this.#isAtProxy = route.kind !== "direct";
    const peer = route.kind === "direct" ? peerOf(route.origin) : proxyPeerOf(route.proxy);
    if (peer.isTls) return this.#openTls(peer, sessions, this.#isAtProxy ? "proxy" : "provider");
    const onread = {
      buffer: landing,
      callback: (bytes: number) => {
        this.#onRead(landing, bytes);
        this.#onReadOver();
        return true;
      },
    };
    this.#isPlain = true;
    const socket = tuned(connectTcp({ host: peer.host, port: peer.port, onread }));
    return this.#watch(socket.once("connect", () => this.#onOpen()));
  }

  #openTls(peer: Peer, sessions: Sessions, of: keyof Sessions, through?: Socket): Socket {
    const socket = openTls(peer, sessions, of, through)
      .once("secureConnect", () => this.#onOpen())
      .on("data", (chunk: Buffer) => this.#onPiece(chunk));
    return this.#watch(tuned(socket));
  }

  #openTunnel({ origin, proxy }: ProxyRoute, { sessions, connectTimeoutMs }: ConnectOptions): Socket {
    this.#isAtProxy = true;
    const events = {
      onOpen: (socket: Socket) => {
        this.#isAtProxy = false;
        const peer = peerOf(origin);
        if (peer.isTls) {
          this.#socket = this.#openTls(peer, sessions, "provider", socket);
          return;
        }
        this.#watch(socket.on("data", (chunk: Buffer) => this.#onPiece(chunk)));
        this.#onOpen();
        socket.resume();
      },
      onClosed: (error: ConnectError) => {
        this.#error ??= error;
        this.#onClose();
      },
    };
    return tuned(openTunnel({ proxy, origin, sessions, connectTimeoutMs }, events));
  }

  #watch(socket: Socket): Socket {
    return socket
      .on("end", () => this.#onClosedByProvider())
      .on("error", (error) => this.#fail(error))
      .once("close", () => this.#onClose());
  }

  #onOpen(): void {
    this.#endConnecting();
    this.sendReserved();
  }

  #endConnecting(): void {
    clearTimeout(this.#connectTimer);
    this.#connectTimer = undefined;
  }

  #onRead(bytes: Buffer, end: number): void {
    // No request was sent: these bytes would be taken for the answer to the next one.
    if (!this.#isSent) {
      this.#socket.destroy();
      return;
    }
    try {
      this.#parser.push(bytes, end);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Several may come of one read of the socket, as records of TLS do. */
  #onPiece(chunk: Buffer): void {
    this.#onRead(chunk, chunk.length);
    if (this.#isOverSoon) return;
    this.#isOverSoon = true;
    READ_OVER.then(() => {
      this.#isOverSoon = false;
      this.#onReadOver();
    });
  }

  #onReadOver(): void {
    try {
      this.#handler?.onReadOver?.();
    } catch (error) {
      this.#fail(error);
    }
  }

  #onClosedByProvider(): void {
    try {
      if (this.#parser.finish()) return;
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#fail(new ClosedError());
  }

  /** Closes it, and tells the handler of a request that was sent. */
  #fail(error: unknown): void {
    this.#error ??= error;
    this.#parser.stop();
    this.#socket.destroy();
    if (!this.#isSent) return;
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.onError(error);
  }

  #onClose(): void {
    // Not every end is announced by `end` or `error`.
    this.#fail(this.#error ?? new ClosedError());
    const wasConnecting = this.#connectTimer !== undefined;
    this.#endConnecting();
    const request = this.#request;
    const handler = this.#handler;
    this.#request = undefined;
    this.#handler = undefined;
    const isUnsent = request !== undefined && handler !== undefined && !handler.over;
    // Before `onClosed`: a pool that is being closed waits for the connection that is opened instead.
    if (isUnsent && !wasConnecting) this.#owner.onUnsent(request, handler);
    this.#owner.onClosed(this);
    if (isUnsent && wasConnecting) {
      handler.onError(this.#isAtProxy ? ofProxy(this.#error) : notConnected(this.#error));
    }
  }
}

/** To run a function as a microtask; `queueMicrotask` takes a microsecond more, with a resource for `async_hooks`. */
const READ_OVER = Promise.resolve();

const tuned = (socket: Socket): Socket => socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);

const notConnected = (error: unknown): ConnectError =>
  error instanceof ConnectError ? error : new ConnectError(codeOf(error), error);
