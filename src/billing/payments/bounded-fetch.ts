/** `fetch` for calls to payment services: one time limit over all of it, no redirects, answers of bounded size. */
import { boundedBody } from "../../base/bounded-body.ts";
import type { Reading } from "./gateway.ts";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** @throws an Error of `fetch`; RangeError for an answer that is too long */
export async function boundedFetch(
  url: string | URL,
  init: RequestInit,
  { signal, timeoutMs }: Reading & { readonly timeoutMs: number },
): Promise<Response> {
  const reply = await fetch(url, {
    ...init,
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  const { status, headers } = reply;
  // A Response of one of these statuses takes no body.
  const isEmpty = status === 204 || status === 304;
  const body = isEmpty ? null : await boundedBody(reply.body, MAX_ANSWER_BYTES, tooLong);
  return new Response(body, { status, headers });
}

const tooLong = () => new RangeError("the answer is too long");
