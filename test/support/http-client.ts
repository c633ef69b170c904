/**
 * HTTP calls of tests, which make tens of thousands: one costs a tenth of a millisecond of a processor, `fetch` with a
 * signal of a time limit more than a whole one.
 */
import { Agent, type Dispatcher, request } from "undici";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface HttpRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole answer. */
  readonly withinMs?: number;
}

/** The whole process shares it, as it does that of `fetch`: a server that stops closes the idle connections to it. */
const agent = new Agent();

/** An answer read to its end, of events by GET, which have none, the first ones; undefined if it has not come in time. Redirects are answers, and nothing is decompressed. */
export async function httpCall(
  method: string,
  url: string,
  { headers = {}, body, withinMs }: HttpRequest = {},
): Promise<HttpAnswer | undefined> {
  const limit = new AbortController();
  const timer = withinMs === undefined ? undefined : setTimeout(() => limit.abort(), withinMs);
  try {
    const answer = await request(url, {
      method: method as Dispatcher.HttpMethod,
      headers,
      ...(body !== undefined && { body }),
      dispatcher: agent,
      signal: limit.signal,
    });
    const received = headersOf(answer.headers);
    const isEndless = method === "GET" && received.get("content-type") === "text/event-stream";
    const text = await (isEndless ? firstOf(answer.body) : answer.body.text());
    return { status: answer.statusCode, headers: received, text };
  } catch (error) {
    if (limit.signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function firstOf(body: AsyncIterable<Buffer>): Promise<string> {
  for await (const chunk of body) return chunk.toString();
  return "";
}

function headersOf(received: Dispatcher.ResponseData["headers"]): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    for (const one of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, one);
  }
  return headers;
}
