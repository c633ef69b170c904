/** The section `webhooks` of the OpenAPI document: what is posted to an org's endpoints, by type of event. */
import { z } from "zod";
import { eventShape } from "../../store/events/operations.ts";
import { schemaOf } from "./json-schema.ts";
import type { OperationItem, Schema } from "./openapi-types.ts";
import { EVENTS } from "./tags.ts";

/** A type of event. */
export interface EventItem {
  readonly name: string;
  readonly summary: string;
  /** What an event of the type holds; undefined: nothing emits it yet. */
  readonly data: z.ZodType | undefined;
}

export function eventItem({ name, summary, data }: EventItem): OperationItem {
  return {
    operationId: `on_${name.replaceAll(".", "_")}`,
    summary,
    description:
      "Signed by Standard Webhooks: headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.",
    tags: [EVENTS],
    security: [],
    "x-svc-access": "webhook",
    requestBody: { required: true, content: { "application/json": { schema: eventSchema(name, data) } } },
    responses: {
      "2XX": { description: "It was taken." },
      "4XX": { description: "It is sent again later, like after every other answer." },
      "410": { description: "The receiver is gone: the webhook is disabled." },
    },
  };
}

/** An event as `GET /v1/events` shows it, of one type. */
function eventSchema(name: string, data: z.ZodType | undefined): Schema {
  const resource = (data ?? z.unknown().meta({ type: "object" })).describe(
    "The resource as the API showed it then.",
  );
  const id = z.string().describe("The event's id; the same in each try, and in the header `webhook-id`.");
  const type = z.literal(name).describe("What happened.");
  return schemaOf(eventShape.extend({ id, type, data: resource }).loose(), "output");
}
