/** `fetch` for calls to payment services: one time limit over all of it, no redirects, answers of bounded size. */
import type { GatewayCall } from "./gateway.ts";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** @throws an Error of `fetch`; RangeError for an answer that is too long */
export async function boundedFetch(
  url: string | URL,
  init: RequestInit,
  { signal, timeoutMs }: Pick<GatewayCall, "signal"> & { readonly timeoutMs: number },
): Promise<Response> {
  const reply = await fetch(url, {
    ...init,
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  const { status, headers } = reply;
  // A Response of one of these statuses takes no body.
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : await boundedBody(reply), { status, headers });
}

async function boundedBody(reply: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of reply.body ?? []) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new RangeError("the answer is too long");
    chunks.push(chunk);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
