/**
 * Small non-streamed requests: a token count, an access token. Bounded in time and size.
 */
import { fail, type WeirError } from "../../base/errors.ts";
import { DispatchedCall, type UpstreamHandler } from "./call.ts";
import type { AnswerHeaders } from "./http/answer-head.ts";
import type { ConnectionPool } from "./http/pool.ts";

export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * The complete answer, whatever its status.
 * @param start sends the request, now or later; what it throws rejects the promise.
 * @throws WeirError `upstream_timeout`, `upstream_invalid_response` (too long), `upstream_error` (no answer).
 */
export function wholeAnswer(start: (call: DispatchedCall) => void, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    let headers: AnswerHeaders = {};
    const over = () => clearTimeout(timer);
    const give = (error: WeirError) => {
      over();
      call.cancel();
      reject(error);
    };
    const handler: UpstreamHandler = {
      onHead(code, all) {
        status = code;
        headers = all;
      },
      onData(read, start, end) {
        bytes += end - start;
        if (bytes > MAX_ANSWER_BYTES)
          give(fail("upstream_invalid_response", "The provider's answer is too long."));
        else chunks.push(Buffer.from(read.subarray(start, end)));
      },
      onEnd() {
        over();
        resolve({ status, headers, body: Buffer.concat(chunks) });
      },
      onFailure: ({ outcome }) =>
        give(fail("upstream_error", `The provider could not be asked (${outcome}).`)),
    };
    const call = new DispatchedCall(handler);
    const timer = setTimeout(
      () => give(fail("upstream_timeout", `The provider did not answer within ${timeoutMs} ms.`)),
      timeoutMs,
    );
    try {
      start(call);
    } catch {
      give(fail("upstream_error", "The provider could not be asked."));
    }
  });
}

/** A POST that is not bound to an endpoint. */
export const post = (
  pool: ConnectionPool,
  url: URL,
  headers: readonly string[],
  body: string,
  timeoutMs: number,
): Promise<Answer> =>
  wholeAnswer((call) => {
    const head = pool.head(`${url.pathname}${url.search}`, headers);
    pool.send({ head, parts: [Buffer.from(body)] }, call);
  }, timeoutMs);
