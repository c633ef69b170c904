/**
 * What `src/edge` calls of uWebSockets.js, without sockets: it keeps the handlers of the routes, and `client.ts` calls them as the
 * library would.
 */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";

export type RouteHandler = (res: HttpResponse, req: HttpRequest) => void;

const handlers = new Map<string, RouteHandler>();

/** The handler that was bound to a route first. @param route such as `post /v1/messages`. @throws Error where there is none */
export function handlerOf(route: string): RouteHandler {
  const handler = handlers.get(route);
  if (handler === undefined) throw new Error(`the gateway has no route ${route}`);
  return handler;
}

type Bind = (pattern: string, handler: RouteHandler) => MemoryApp;

class MemoryApp {
  readonly get = this.#bind("get");
  readonly head = this.#bind("head");
  readonly post = this.#bind("post");
  readonly put = this.#bind("put");
  readonly patch = this.#bind("patch");
  readonly del = this.#bind("del");
  readonly any = this.#bind("any");
  readonly options = this.#bind("options");

  filter(): this {
    return this;
  }

  listen(_host: string, _port: number, _option: number, listening: (socket: object) => void): this {
    listening({});
    return this;
  }

  close(): void {}

  #bind(verb: string): Bind {
    return (pattern, handler) => {
      const route = `${verb} ${pattern}`;
      if (!handlers.has(route)) handlers.set(route, handler);
      return this;
    };
  }
}

export const App = (): MemoryApp => new MemoryApp();
export const us_listen_socket_close = (): void => {};
export const us_socket_local_port = (): number => 1;
