/** A scripted upstream on loopback: it gives the answers that it was told to give, in order, and keeps what arrived. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Json } from "../conformance/ask.ts";
import { startProvider } from "../upstream/fixtures.ts";

export interface Scripted {
  /** 200 unless told. */
  readonly status?: number;
  /** JSON unless told. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Instead of a body. A function is a gap: what follows is written once its promise is fulfilled. It is told when the connection closes. */
  readonly parts?: readonly (string | Buffer | ((closed: Promise<unknown>) => Promise<unknown>))[];
  /** The connection is cut behind the last part. */
  readonly isCut?: boolean;
}

/** A request as it arrived. */
export interface Arrived {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly json: Json;
}

/** An answer, or what makes one of the request, such as a call of the tool that was offered. */
export type Script = Scripted | ((arrived: Arrived) => Scripted);

export class ScriptedUpstream {
  readonly arrived: Arrived[] = [];
  readonly #scripts: Script[] = [];
  readonly #provider: Awaited<ReturnType<typeof startProvider>>;

  private constructor(provider: Awaited<ReturnType<typeof startProvider>>) {
    this.#provider = provider;
    provider.answer = ({ path, headers, body }, response) => {
      const arrived = { url: path, headers, raw: body, json: body === "" ? undefined : JSON.parse(body) };
      this.arrived.push(arrived);
      void play(scriptedOf(this.#scripts.shift(), arrived), response);
    };
  }

  static async start(): Promise<ScriptedUpstream> {
    return new ScriptedUpstream(await startProvider());
  }

  get url(): string {
    return this.#provider.url;
  }

  /** The last request. @throws Error if none arrived */
  get last(): Arrived {
    const last = this.arrived.at(-1);
    if (last === undefined) throw new Error("nothing arrived upstream");
    return last;
  }

  /** Forgets what arrived and what was to be answered. @param scripts the next answers, in order */
  script(...scripts: readonly Script[]): void {
    this.arrived.length = 0;
    this.#scripts.splice(0, Number.POSITIVE_INFINITY, ...scripts);
  }

  close(): Promise<void> {
    return this.#provider.close();
  }
}

/** What a test has no answer for is refused in words that tell why. */
function scriptedOf(script: Script | undefined, arrived: Arrived): Scripted {
  try {
    if (script === undefined) throw new Error("the test has no answer for this request");
    return typeof script === "function" ? script(arrived) : script;
  } catch (error) {
    return { status: 400, body: JSON.stringify({ error: { message: String(error) } }) };
  }
}

async function play(scripted: Scripted, response: ServerResponse): Promise<void> {
  const { status = 200, headers, body = "", parts = [body], isCut } = scripted;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  const closed = new Promise((resolve) => response.once("close", resolve));
  for (const part of parts) {
    if (typeof part === "function") await part(closed);
    else response.write(part);
  }
  if (isCut) response.destroy();
  else response.end();
}
