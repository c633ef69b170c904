/** `GET /v1/generation/{id}/stream` and `POST /v1/generation/{id}/cancel`: detached calls, as they run and for ten minutes after. */
import { z } from "zod";
import type { Clock } from "../../../base/clock.ts";
import { fail } from "../../../base/errors.ts";
import { NO_REQUEST_ID, REQUEST_ID } from "../../../base/ids.ts";
import { FullAnswer } from "../../../base/operation/answer.ts";
import { type Body, inParts } from "../../../base/operation/body.ts";
import * as field from "../../../base/operation/fields.ts";
import { type Caller, operation } from "../../../base/operation/operation.ts";
import { FORMATS } from "../../../wire/formats.ts";
import type { CallOwner, WholeBody } from "./call-log.ts";
import type { DetachedCalls } from "./detached-calls.ts";
import type { ReadableCall } from "./readable-call.ts";

export interface DetachedOperationsDeps {
  readonly calls: Pick<DetachedCalls, "readable">;
  readonly clock: Pick<Clock, "monotonic">;
  /** Silence before a comment is sent, milliseconds; 0: none is. */
  readonly keepAliveMs: number;
}

const idPath = z.object({
  id: z
    .string()
    .regex(REQUEST_ID, NO_REQUEST_ID)
    .describe("Request id of the call: the header `x-svc-request-id` of its answer."),
});

/** Proxies that buffer must not hold events back. */
const STREAM_HEADERS = { "x-accel-buffering": "no" };

export const detachedOperations = ({ calls, clock, keepAliveMs }: DetachedOperationsDeps) => ({
  readCallStream: operation({
    summary:
      "The stream of a detached call, from its start or from `Last-Event-ID` on, while it runs and for ten minutes after",
    method: "GET",
    path: "/v1/generation/{id}/stream",
    access: "inference / admin",
    group: "Inference",
    params: idPath,
    output: z
      .looseObject({})
      .describe("The answer of a call that is no stream, in its own format; else its events."),
    otherTypes: ["text/event-stream"],
    errors: ["not_found", "state", "gateway_unavailable"],
    async run({ params: { id } }, caller, head) {
      const found = await foundFor(calls, caller, id);
      if (!found.call.isStream) {
        const body: Body = (client) => inParts(answerOf(found, () => client.gone))(client);
        return new FullAnswer<never>({}, { stream: { type: "application/json", body } });
      }
      const filler = FORMATS[found.call.format].keepAlive;
      const last = head.header("last-event-id");
      const body: Body = (client) => found.tell(last, client, { clock, filler, keepAliveMs });
      return new FullAnswer<never>(
        { headers: STREAM_HEADERS },
        { stream: { type: "text/event-stream; charset=utf-8", body } },
      );
    },
  }),
  cancelCall: operation({
    summary: "End a detached call: what it has said is charged",
    method: "POST",
    path: "/v1/generation/{id}/cancel",
    access: "inference / admin",
    group: "Inference",
    params: idPath,
    output: z.object({
      id: field.id,
      cancelled: z.literal(true).describe("It has ended, or ends within a second."),
    }),
    errors: ["not_found", "gateway_unavailable"],
    async run({ params: { id } }, caller) {
      const found = await foundFor(calls, caller, id);
      await found.cancel();
      return { id, cancelled: true as const };
    },
  }),
});

/**
 * The answer of a call that is no stream, as a body: an operation has to end within a time, and a call may run longer.
 * @throws WeirError 409 where that is an error, or is not kept any more
 */
async function* answerOf(found: ReadableCall, hasLeft: () => boolean): AsyncGenerator<Buffer> {
  const whole = await found.whole(hasLeft);
  if (whole === undefined) return;
  if (whole.status >= 400) throw failed(whole);
  const { body } = whole;
  // What a slow client has not taken of a part is copied for it.
  for (let at = 0; at < body.length; at += PART_BYTES) yield body.subarray(at, at + PART_BYTES);
}

const PART_BYTES = 64 * 1024;

/** The call was answered with an error: its words are those of the call's format. */
const failed = ({ status, body }: WholeBody) =>
  fail("state", `The call failed with status ${status}.`, {
    details: { status, answer: body.toString().slice(0, MOST_TOLD) },
  });

const MOST_TOLD = 4000;

async function foundFor(
  calls: DetachedOperationsDeps["calls"],
  caller: Caller,
  id: string,
): Promise<ReadableCall> {
  const found = await calls.readable(id);
  if (found === undefined || !mayRead(caller, found.call)) throw notFound(id);
  return found;
}

/** Keys of the call's project and environment, and people who may read the org's payloads. */
export const mayRead = (
  { actor, orgId, projectId, environment, scopes }: Caller,
  call: CallOwner,
): boolean =>
  actor.kind === "person"
    ? call.orgId === orgId && scopes.has("read:payloads")
    : call.orgId === orgId && call.projectId === projectId && call.environment === environment;

const notFound = (id: string) =>
  fail(
    "not_found",
    `No detached call ${id} runs or has ended in the last ten minutes. A call is detached by svc.on_disconnect, its policy or its key: docs/long-calls.md.`,
    { param: "/id" },
  );
