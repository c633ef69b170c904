/** Sends a body as it comes and as the client reads it: while the client does not read, the source is not asked. */
import type { AnswerStream } from "../base/operation/answer.ts";
import type { SocketReply } from "./reply.ts";

/**
 * The answer ends early, as a broken connection, where the source fails after its first part. A client that leaves ends the
 * source.
 * @param headers lines, each with its line end
 * @throws what the source throws before its first part: nothing is sent then
 */
export async function sendStream(
  reply: SocketReply,
  headers: string,
  { body, stop }: AnswerStream,
): Promise<void> {
  const parts = body[Symbol.asyncIterator]();
  let wake = () => {};
  const first = parts.next();
  reply.onGone(() => {
    wake();
    // Also while the source is being waited for.
    stop();
  });
  let next = await first;
  if (reply.gone) {
    await parts.return?.();
    return;
  }
  if (reply.isBodiless) {
    reply.send(200, headers, "");
    await parts.return?.();
    return;
  }
  // An empty filler: between any two bytes of a file nothing may stand.
  reply.openStream(headers, "");
  reply.onDrain(() => wake());
  try {
    for (; next.done !== true; next = await parts.next()) {
      const room = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { value } = next;
      if (!reply.write(Buffer.from(value.buffer, value.byteOffset, value.byteLength))) await room;
      if (reply.gone) return;
    }
    if (!reply.gone) reply.end();
  } catch (error) {
    reply.abort();
    throw error;
  } finally {
    await parts.return?.();
  }
}
