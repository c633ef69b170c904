/** The section `webhooks` of the OpenAPI document: what is posted to an org's endpoints, by type of event. */
import { z } from "zod";
import type { OperationItem, Schema } from "./openapi-types.ts";
import { EVENTS } from "./tags.ts";

/** A type of event. */
export interface EventItem {
  readonly name: string;
  readonly summary: string;
  /** Undefined: nothing emits it yet. */
  readonly data: z.ZodType | undefined;
}

const text = (description: string): Schema => ({ type: "string", description });

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

function eventSchema(name: string, data: z.ZodType | undefined): Schema {
  const { $schema, ...shape } =
    data === undefined ? { type: "object" } : z.toJSONSchema(data, { io: "output", unrepresentable: "any" });
  return {
    type: "object",
    required: ["id", "type", "created_at", "org_id", "data"],
    properties: {
      id: text("The event's id; the same in each try, and in the header `webhook-id`."),
      type: { ...text("What happened."), const: name },
      created_at: text("When it happened; ISO 8601, UTC."),
      org_id: text("The org that it happened in."),
      data: { ...shape, description: "The resource as the API showed it then." } as Schema,
    },
  };
}
