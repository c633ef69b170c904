/**
 * Handlers that end with their server. uWebSockets.js holds what it was given for as long as the process lives, so each server that was
 * closed would keep all that its handlers know: a warm-up's gateways, and those of a test.
 */
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js";

type Handler = (res: HttpResponse, req: HttpRequest) => void;
const VERBS = ["get", "head", "post", "put", "patch", "del", "options", "any"] as const;
type Verb = (typeof VERBS)[number];

export class HeldHandlers {
  readonly #app: TemplatedApp;
  readonly #handlers: Handler[] = [];
  #told: ((res: HttpResponse, change: 1 | -1) => void) | undefined;

  constructor(app: TemplatedApp) {
    this.#app = app;
  }

  /** As the method of the library's app of that name. */
  on(verb: Verb, pattern: string, handler: Handler): this {
    this.#app[verb](pattern, held(this.#handlers, this.#handlers.push(handler) - 1));
    return this;
  }

  /** Told of each connection that opens (1) or closes (-1). */
  onConnection(told: (res: HttpResponse, change: 1 | -1) => void): void {
    this.#told = told;
    this.#app.filter(toldOf(this));
  }

  connection(res: HttpResponse, change: number): void {
    this.#told?.(res, change > 0 ? 1 : -1);
  }

  /** @param done false: the address cannot be bound */
  listen(host: string, port: number, option: number, done: (socket: us_listen_socket | false) => void): void {
    const listen = this.#app.listen as unknown as Listen;
    listen.call(this.#app, host, port, option, done);
  }

  /** Closes all connections. Requests are not handled any more. */
  close(): void {
    this.#app.close();
    this.#handlers.splice(0);
    this.#told = undefined;
  }
}

/** The overload with host and option, which the binding supports and its types omit. */
type Listen = (
  host: string,
  port: number,
  option: number,
  done: (socket: us_listen_socket | false) => void,
) => void;

const toldOf =
  (handlers: HeldHandlers) =>
  (res: HttpResponse, change: number): void =>
    handlers.connection(res, change);

/** A function of its own, so that what it makes knows the list alone. */
const held =
  (handlers: readonly Handler[], at: number): Handler =>
  (res, req) =>
    handlers[at]?.(res, req);
