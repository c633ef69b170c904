/** Types of the part of autocannon that the bench uses; the package has none. */
declare module "autocannon" {
  import type { EventEmitter } from "node:events";

  interface RequestParts {
    readonly headers: Readonly<Record<string, string>>;
  }

  interface Options {
    url: string;
    method: "POST";
    headers: Readonly<Record<string, string>>;
    body: string;
    connections: number;
    /** Stop after this many answers; absent: after `duration` seconds. */
    amount?: number;
    duration: number;
    /** Timeout of an answer, seconds. */
    timeout: number;
    /** Milliseconds between its samples, and between its checks for completion. */
    sampleInt: number;
    verifyBody: (body: string) => boolean;
    /** Taken in turns by each connection; `setupRequest` is called before each call. */
    requests?: readonly { readonly setupRequest: autocannon.SetupRequest }[];
  }

  interface Instance extends EventEmitter {
    stop(): void;
    /** `durationMs` is a float; autocannon's own histogram would round it to whole milliseconds. */
    on(
      event: "response",
      listener: (client: unknown, status: number, bytes: number, durationMs: number) => void,
    ): this;
    on(event: "reqError", listener: (error: Error) => void): this;
  }

  namespace autocannon {
    type SetupRequest = (request: RequestParts) => RequestParts;
  }

  function autocannon(options: Options, done: (error: Error | null) => void): Instance;
  export = autocannon;
}
