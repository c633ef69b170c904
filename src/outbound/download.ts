/**
 * Fetches what a tenant's URL stands for. Redirects are followed by hand, so that the guard looks at each of their addresses anew; no
 * cookie or credential is sent, no content is decoded, and the caller's sink gets the body as it comes.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { AnswerHead, BodySink } from "./attempt.ts";
import { OutboundError } from "./failure.ts";
import type { OutboundRules } from "./rules.ts";
import type { Outbound } from "./send.ts";

export interface DownloadRequest {
  readonly url: string;
  readonly rules: OutboundRules;
  /** Value of the header `Accept`. */
  readonly accept: string;
  /** For one answer; `signal` bounds them together. */
  readonly timeoutMs: number;
  /** Ends the download with an OutboundError `cancelled`. */
  readonly signal: AbortSignal;
  /**
   * Told of the body before its first byte.
   * @returns the sink that takes the body, or why the body is refused, in a sentence for the tenant. It is not called for redirects.
   */
  readonly begin: (head: BodyHead) => BodySink | string;
}

export interface BodyHead {
  /** `Content-Type` as sent, cut to 256 characters; "" without. */
  readonly contentType: string;
  /** `Content-Length`; undefined without. */
  readonly bytes: number | undefined;
}

/**
 * What came instead of the body, in a sentence. The tenant may read it wherever it came from: what may be downloaded from is
 * what any tenant may read.
 */
export class DownloadError extends Error {
  override readonly name = "DownloadError";
}

/** As many as browsers' kin follow; each is a call of its own. */
const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const MAX_TYPE_LENGTH = 256;

/**
 * Resolves when the sink has had the whole body, or wants no more of it.
 * @throws DownloadError
 * @throws OutboundError
 */
export async function download(outbound: Pick<Outbound, "send">, request: DownloadRequest): Promise<void> {
  let { url } = request;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const next = await hop(outbound, request, url);
    if (next === undefined) return;
    url = next;
  }
  throw new DownloadError(`It is redirected more than ${MAX_REDIRECTS} times.`);
}

/** @returns where it is redirected to */
async function hop(
  outbound: Pick<Outbound, "send">,
  { rules, accept, timeoutMs, signal, begin }: DownloadRequest,
  url: string,
): Promise<string | undefined> {
  let refusal: string | undefined;
  let next: string | undefined;
  const sinkOf = ({ status, headers }: AnswerHead): BodySink | undefined => {
    if (REDIRECTS.includes(status) && headers.location !== undefined) {
      next = utf8Of(headers.location);
      return undefined;
    }
    const sink = faultOf(status, headers) ?? begin(bodyHead(headers));
    if (typeof sink !== "string") return sink;
    refusal = sink;
    return undefined;
  };
  await outbound.send({
    url,
    rules,
    timeoutMs,
    signal,
    sinkOf,
    method: "GET",
    headers: { accept, "user-agent": "weir" },
    repeatable: true,
    mayBePlain: true,
  });
  if (refusal !== undefined) throw new DownloadError(refusal);
  return next === undefined ? undefined : redirected(url, next);
}

function faultOf(status: number, headers: IncomingHttpHeaders): string | undefined {
  if (status !== 200) return `Its server answered with the status ${status}.`;
  const coding = headers["content-encoding"] ?? "identity";
  if (coding.trim().toLowerCase() !== "identity") return "Its server sends it compressed, unasked.";
  return undefined;
}

function bodyHead(headers: IncomingHttpHeaders): BodyHead {
  const bytes = Number(headers["content-length"] ?? Number.NaN);
  return {
    contentType: (headers["content-type"] ?? "").slice(0, MAX_TYPE_LENGTH),
    bytes: Number.isSafeInteger(bytes) ? bytes : undefined,
  };
}

/** A value of a header as its server wrote it: Node reads each byte as a character, and many servers send paths as UTF-8. */
function utf8Of(value: string): string {
  const text = Buffer.from(value, "latin1").toString();
  return text.includes("\ufffd") ? value : text;
}

/** @throws DownloadError */
function redirected(from: string, location: string): string {
  const to = URL.parse(location, from);
  if (to === null) throw new DownloadError("It is redirected to what is no URL.");
  // A key of a signed address would go over the line for everybody to read.
  if (new URL(from).protocol === "https:" && to.protocol === "http:") {
    throw new DownloadError("It is redirected from https:// to http://.");
  }
  return to.href;
}

/** What the tenant may read of a download that failed. */
export function downloadFault(error: unknown): string | undefined {
  if (error instanceof DownloadError) return error.message;
  return error instanceof OutboundError ? error.shownMessage : undefined;
}
