/** `/v1/responses/{id}`, its input items and its cancel: stored responses of the key's project and environment. */
import { z } from "zod";
import { fail } from "../../../base/errors.ts";
import { FullAnswer, raw } from "../../../base/operation/answer.ts";
import * as field from "../../../base/operation/fields.ts";
import { operation } from "../../../base/operation/operation.ts";
import { responsesReplySchema } from "../../../wire/responses/schema.ts";
import type { InputItems } from "../kept/input-items.ts";
import { itemPages } from "../kept/item-pages.ts";
import { MOST_QUOTED } from "../kept/stored-responses.ts";
import { END, RunningResponses, type RunningResponsesDeps } from "./running-responses.ts";

/** An id of any other form is of no response here: clients are told the same of those that were made elsewhere. */
const path = z.object({ id: z.string().describe("Its id.") });

const getQuery = z.object({
  stream: z
    .enum(["true", "false"])
    .default("false")
    .describe(
      "True: its events as a stream, while its call runs and for ten minutes after. Only in the background.",
    ),
  // An empty one would be read as the number 0.
  starting_after: z
    .preprocess((text) => (text === "" ? undefined : text), z.coerce.number().int().min(0).optional())
    .optional()
    .describe(
      "With `stream`: the events after that `sequence_number`; a header `Last-Event-ID` goes before it.",
    ),
  include: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe("Has no effect: there is nothing more than what the response has."),
  include_obfuscation: z.string().optional().describe("Has no effect: events are not padded."),
});

const idOf = (number: number | undefined): string =>
  number === undefined ? "" : String(Math.min(number, END));

/** Proxies that buffer must not hold events back. */
const STREAM_HEADERS = { "x-accel-buffering": "no" };

interface ResponseOperationsDeps extends RunningResponsesDeps {
  readonly inputItems: InputItems;
}

export function responseOperations(deps: ResponseOperationsDeps) {
  return operationsOf(deps, new RunningResponses(deps));
}

const operationsOf = ({ responses, inputItems }: ResponseOperationsDeps, running: RunningResponses) => ({
  getResponse: operation({
    summary: "A stored response, as it was delivered; of one in the background its state, or its events",
    method: "GET",
    path: "/v1/responses/{id}",
    access: "inference",
    group: "Inference",
    params: path,
    query: getQuery,
    output: responsesReplySchema,
    otherTypes: ["text/event-stream"],
    errors: ["not_found", "gateway_unavailable"],
    run: async ({ params: { id }, query }, caller, head) => {
      await responses.turns.next(caller.orgId);
      const found = await responses.get(caller, id);
      if (found === undefined) throw notFound(id);
      if (query.stream === "false") return raw("application/json", running.shown(found));
      // A reader that comes again has the address of its first reading, and has got further.
      const last = head.header("last-event-id") || idOf(query.starting_after);
      const body = await running.events(caller, id, found, last);
      return new FullAnswer<never>(
        { headers: STREAM_HEADERS },
        { stream: { type: "text/event-stream; charset=utf-8", body } },
      );
    },
  }),
  cancelResponse: operation({
    summary: "End a response in the background: what it has said is charged",
    method: "POST",
    path: "/v1/responses/{id}/cancel",
    access: "inference",
    group: "Inference",
    params: path,
    output: responsesReplySchema,
    errors: ["not_found", "gateway_unavailable"],
    run: async ({ params: { id } }, caller) => {
      await responses.turns.next(caller.orgId);
      const found = await responses.get(caller, id);
      const ended = found && (await running.cancel(caller, id, found));
      if (ended === undefined) throw notFound(id);
      return raw("application/json", running.shown(ended));
    },
  }),
  listResponseInputItems: operation({
    ...itemPages,
    summary: "The items that a stored response was made from, those of the conversation before it included",
    path: "/v1/responses/{id}/input_items",
    params: path,
    run: async ({ params: { id }, query }, caller) => {
      const page = await inputItems.page(caller, id, query);
      if (page === undefined) throw notFound(id);
      return raw("application/json", page);
    },
  }),
  deleteResponse: operation({
    summary: "Forget a stored response",
    method: "DELETE",
    path: "/v1/responses/{id}",
    access: "inference",
    group: "Inference",
    params: path,
    output: z.object({
      id: field.id,
      object: field.objectOf("response"),
      deleted: z.literal(true).describe("It is gone."),
    }),
    errors: ["not_found", "state"],
    run: async ({ params: { id } }, caller) => {
      const found = await responses.get(caller, id);
      if (found?.background?.status === "in_progress")
        throw fail("state", "Cannot delete a response that is in progress: cancel it first.", {
          param: "/id",
        });
      if (!(await responses.remove(caller, id))) throw notFound(id);
      return { id, object: "response" as const, deleted: true as const };
    },
  }),
});

const notFound = (id: string) =>
  fail("not_found", `There is no stored response "${id.slice(0, MOST_QUOTED)}".`, { param: "/id" });
