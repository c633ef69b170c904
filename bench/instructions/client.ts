/** Clients without sockets: they call the handler of a route as uWebSockets.js does, and take the answer. */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { RouteHandler } from "./socket-library.ts";

const LOOPBACK = new Uint8Array([127, 0, 0, 1]).buffer;
const OK = "200 OK";

type Header = readonly [string, string];

/** One request, which is sent any number of times. */
export class ClientRequest {
  readonly path: string;
  readonly headers: readonly Header[];
  readonly body: ArrayBuffer;

  constructor(path: string, secret: string, body: string) {
    const bytes = new TextEncoder().encode(body);
    this.path = path;
    this.body = bytes.buffer;
    this.headers = [
      ["host", "127.0.0.1:8787"],
      ["connection", "keep-alive"],
      ["authorization", `Bearer ${secret}`],
      ["content-type", "application/json"],
      ["content-length", String(bytes.length)],
    ];
  }

  // -- HttpRequest --

  getMethod(): string {
    return "post";
  }

  getCaseSensitiveMethod(): string {
    return "POST";
  }

  getUrl(): string {
    return this.path;
  }

  getQuery(): string {
    return "";
  }

  getParameter(): string {
    return "";
  }

  getHeader(name: string): string {
    return this.headers.find(([known]) => known === name)?.[1] ?? "";
  }

  forEach(take: (name: string, value: string) => void): void {
    for (const [name, value] of this.headers) take(name, value);
  }
}

type Piece = Uint8Array | string;

/** What a client receives of one call. It keeps up: no write waits. */
class MemoryResponse {
  status = "";
  bytes = 0;
  onPiece: ((piece: ArrayBuffer, isLast: boolean) => void) | undefined;
  readonly #ended: (response: MemoryResponse) => void;
  readonly #kept: string[] | undefined;

  /** @param kept where the text of the answer is wanted */
  constructor(ended: (response: MemoryResponse) => void, kept: string[] | undefined) {
    this.#ended = ended;
    this.#kept = kept;
  }

  // -- HttpResponse --

  onAborted(): this {
    return this;
  }

  onData(take: (piece: ArrayBuffer, isLast: boolean) => void): this {
    this.onPiece = take;
    return this;
  }

  getRemoteAddress(): ArrayBuffer {
    return LOOPBACK;
  }

  cork(act: () => void): this {
    act();
    return this;
  }

  writeStatus(status: string): this {
    this.status = status;
    return this;
  }

  writeHeader(): this {
    return this;
  }

  write(piece: Piece): boolean {
    this.#take(piece);
    return true;
  }

  end(piece?: Piece): this {
    if (piece !== undefined) this.#take(piece);
    this.#ended(this);
    return this;
  }

  pause(): void {}

  resume(): void {}

  close(): void {
    this.status = "closed";
    this.#ended(this);
  }

  #take(piece: Piece): void {
    this.bytes += piece.length;
    this.#kept?.push(typeof piece === "string" ? piece : Buffer.from(piece).toString());
  }
}

/** Sends the same request several times at once, and waits for all answers. */
export class Clients {
  readonly #handler: RouteHandler;
  readonly #amount: number;
  #open = 0;
  #fault = "";
  #minBytes = 0;
  #allEnded: () => void = () => {};

  readonly #ended = (response: MemoryResponse): void => {
    if (response.status !== OK || response.bytes < this.#minBytes)
      this.#fault = `${response.status}, ${response.bytes} bytes`;
    if (--this.#open === 0) this.#allEnded();
  };

  constructor(handler: RouteHandler, amount: number) {
    this.#handler = handler;
    this.#amount = amount;
  }

  /** @param minBytes a shorter answer is none. @throws Error where a call was not answered in full: it would be cheap */
  async call(request: ClientRequest, minBytes: number, kept?: string[]): Promise<void> {
    this.#minBytes = minBytes;
    this.#open = this.#amount;
    const ended = new Promise<void>((resolve) => {
      this.#allEnded = resolve;
    });
    for (let i = 0; i < this.#amount; i++) {
      const response = new MemoryResponse(this.#ended, i === 0 ? kept : undefined);
      this.#handler(response as unknown as HttpResponse, request as unknown as HttpRequest);
      response.onPiece?.(request.body, true);
    }
    await ended;
    if (this.#fault !== "") throw new Error(`a call was answered with ${this.#fault}`);
  }
}
