/** Tells a running call to one more client: one that repeats its request. */
import type { Clock } from "../../../base/clock.ts";
import { FORMATS } from "../../../wire/formats.ts";
import type { ClientReply } from "../../client-reply.ts";
import type { ReadableCall } from "./read-log.ts";

interface FollowOptions {
  /** Lines of the answer's head. */
  readonly headers: string;
  readonly clock: Pick<Clock, "monotonic">;
  readonly keepAliveMs: number;
}

/** Resolves once the client has all, or has left; the answer breaks off where what it lacks is not kept any more. */
export async function follow(
  running: ReadableCall,
  reply: ClientReply,
  { headers, clock, keepAliveMs }: FollowOptions,
): Promise<void> {
  const hasLeft = () => reply.gone;
  const { isStream, format } = running.call;
  try {
    if (!isStream) {
      const whole = await running.whole(hasLeft);
      if (whole !== undefined) reply.send(whole.status, headers, whole.body);
      return;
    }
    const filler = FORMATS[format].keepAlive;
    let resume = () => {};
    reply.onGone(() => resume());
    reply.openStream(headers, filler);
    reply.onDrain(() => resume());
    for await (const bytes of running.events("", { clock, filler, keepAliveMs, hasLeft })) {
      const { promise, resolve } = Promise.withResolvers<void>();
      resume = resolve;
      if (!reply.write(bytes) && !reply.gone) await promise;
    }
    reply.end();
  } catch (error) {
    reply.abort();
    throw error;
  }
}
