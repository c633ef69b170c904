/**
 * The connections to one origin on one route. There is no limit to them: how many calls a provider gets is decided before. A request takes
 * an idle connection, or opens one.
 */
import type { Clock } from "../../../base/clock.ts";
import type { ProxyAddress } from "../../../base/network/proxy-address.ts";
import { type AnswerHandler, Connection, type ConnectionOwner } from "./connection.ts";
import type { Sessions } from "./dial.ts";
import { type OutgoingRequest, requestHead } from "./request.ts";
import { type Forwarding, forwardingOf, type Route, routeTo } from "./route.ts";

/** Idle connections are looked through this often. */
const SWEEP_MS = 1_000;
/** A request does not wait for a round of the event loop that is expected to take longer: a look at a socket takes a hundredth of it. */
const LONG_ROUND_MS = 1;
/** What a round took is known again after this time. */
const LOOKS_MS = 100;

export class ConnectionPool implements ConnectionOwner {
  readonly #route: Route;
  readonly #forwarding: Forwarding | undefined;
  readonly #connectTimeoutMs: number;
  readonly #clock: Clock;
  /** The connection at the end was used last and is used first, so that connections that are not needed become old. */
  #idle: Connection[] = [];
  /** Reserved in this round of the event loop. */
  #reserved: Connection[] = [];
  /** Rounds of the event loop are long until then; monotonic. */
  #looksUntilMs = 0;
  #connections = 0;
  readonly #sessions: Sessions = {};
  #sweep: NodeJS.Timeout | undefined;
  /** Defined once the pool is being closed. */
  #closed: Promise<void> | undefined;
  /** Resolves `#closed`. */
  #onEmpty: (() => void) | undefined;

  /**
   * Sockets were looked at before this round came here, and maybe before the request: it is sent in the next one, or where rounds are long once
   * the socket itself was looked at.
   */
  readonly #afterReads = () => {
    const nowMs = this.#clock.monotonic();
    let reserved = this.#reserved;
    this.#reserved = [];
    if (nowMs < this.#looksUntilMs) {
      reserved = reserved.filter((connection) => !connection.sendIfQuiet());
      if (reserved.length === 0) return;
    }
    setImmediate(this.#sendAll, reserved, nowMs);
  };

  readonly #sendAll = (reserved: readonly Connection[], sinceMs: number) => {
    const nowMs = this.#clock.monotonic();
    if (nowMs - sinceMs > LONG_ROUND_MS) this.#looksUntilMs = nowMs + LOOKS_MS;
    for (const connection of reserved) connection.sendReserved();
  };

  /** @param proxy by which the origin is called; undefined: directly */
  constructor(origin: string, connectTimeoutMs: number, clock: Clock, proxy?: ProxyAddress) {
    this.#route = routeTo(new URL(origin), proxy);
    this.#forwarding = forwardingOf(this.#route);
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#clock = clock;
  }

  get origin(): string {
    return this.#route.origin.origin;
  }

  /** The origin's host, with its port where it has one: the value of the header `Host`. */
  get host(): string {
    return this.#route.origin.host;
  }

  /**
   * Request line and fields of a POST on this route.
   * @param headers alternating names and values
   * @throws TypeError as `requestHead` does
   */
  head(path: string, headers: readonly string[]): string {
    return requestHead(this.host, path, headers, this.#forwarding);
  }

  /** Number of connections open or being opened. */
  get connections(): number {
    return this.#connections;
  }

  send(request: OutgoingRequest, handler: AnswerHandler): void {
    const connection = this.#takeIdle();
    if (connection === undefined) {
      this.#connections += 1;
      const options = {
        route: this.#route,
        connectTimeoutMs: this.#connectTimeoutMs,
        sessions: this.#sessions,
      };
      new Connection(options, this, request, handler);
      return;
    }
    // What its provider has sent or done while it was idle is read first: such bytes must not be taken for the answer (undici
    // tries the same, GHSA-35p6-xmwp-9g52), and a closed connection would lose the request.
    connection.reserve(request, handler);
    if (this.#reserved.push(connection) === 1) setImmediate(this.#afterReads);
  }

  /** Closes idle connections at once, the others after their answers. Resolves when all are closed. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#onEmpty = resolve;
      for (const connection of this.#idle) connection.abort();
      this.#idle = [];
      if (this.#connections === 0) resolve();
    });
    return this.#closed;
  }

  // -- ConnectionOwner --

  onFree(connection: Connection): void {
    if (this.#closed !== undefined) {
      connection.abort();
      return;
    }
    connection.idleUntilMs = this.#clock.monotonic() + connection.idleMs;
    this.#idle.push(connection);
    this.#sweep ??= setTimeout(() => this.#closeOld(), SWEEP_MS).unref();
  }

  onClosed(connection: Connection): void {
    this.#connections -= 1;
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#connections === 0) this.#onEmpty?.();
  }

  onUnsent(request: OutgoingRequest, handler: AnswerHandler): void {
    this.send(request, handler);
  }

  #takeIdle(): Connection | undefined {
    const nowMs = this.#clock.monotonic();
    let connection = this.#idle.pop();
    while (connection !== undefined && (connection.isClosed || connection.idleUntilMs <= nowMs)) {
      connection.abort();
      connection = this.#idle.pop();
    }
    return connection;
  }

  #closeOld(): void {
    const nowMs = this.#clock.monotonic();
    const kept: Connection[] = [];
    for (const connection of this.#idle) {
      if (connection.idleUntilMs > nowMs) kept.push(connection);
      else connection.abort();
    }
    this.#idle = kept;
    this.#sweep = kept.length > 0 ? setTimeout(() => this.#closeOld(), SWEEP_MS).unref() : undefined;
  }
}
