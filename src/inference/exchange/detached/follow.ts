/** Tells a running call to one more client: one that repeats its request. */
import type { Clock } from "../../../base/clock.ts";
import { FORMATS } from "../../../wire/formats.ts";
import type { ClientReply } from "../../client-reply.ts";
import type { ReadableCall } from "./readable-call.ts";
import { ReplyBody } from "./reply-body.ts";

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
  const { isStream, format } = running.call;
  if (!isStream) {
    await followWhole(running, reply, headers);
    return;
  }
  const filler = FORMATS[format].keepAlive;
  reply.openStream(headers, filler);
  await new Promise<void>((resolve, reject) => {
    running.tell("", new ReplyBody(reply, { resolve, reject }), { clock, filler, keepAliveMs });
  });
}

async function followWhole(running: ReadableCall, reply: ClientReply, headers: string): Promise<void> {
  try {
    const whole = await running.whole(() => reply.gone);
    if (whole !== undefined) reply.send(whole.status, headers, whole.body);
  } catch (error) {
    reply.abort();
    throw error;
  }
}
