/** Errors in the OpenAPI document: the shapes of an error, and the codes of each route. */
import { z } from "zod";
import { ERRORS, type ErrorName } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { schemaOf } from "./json-schema.ts";
import { SCIM_ERROR_SHAPE, SCIM_MEANINGS } from "./openapi-scim.ts";
import type { Answers, ErrorSchemaName, Schema } from "./openapi-types.ts";

/** Every route. */
const ALWAYS: readonly ErrorName[] = ["invalid_value", "internal"];
const WITH_BODY: readonly ErrorName[] = ["invalid_json", "payload_too_large", "unsupported_media_type"];
/** Routes whose requests are counted: all but model calls, what belongs to these, and hooks. */
const COUNTED: readonly ErrorName[] = ["rpm"];
/** Model calls. */
const OF_CALLS: readonly ErrorName[] = [
  "unsupported_option",
  "unsupported_version",
  "context_length_exceeded",
  "unsupported_parameter",
  "content_policy_violation",
  "capability_not_supported",
  "idempotency_key_invalid",
  "upstream_rejected",
  "insufficient_credits",
  "budget_exceeded",
  "denied_by_policy",
  "plan_limit",
  "model_not_found",
  "no_endpoint",
  "idempotency_mismatch",
  "idempotency_in_progress",
  "rpm",
  "tpm",
  "concurrency",
  "upstream_capacity",
  "upstream_all_out",
  "storage_unavailable",
  "upstream_error",
  "upstream_invalid_response",
  "upstream_timeout",
  "shutting_down",
];

export interface FailingRoute {
  /** For what the request carries as its credential. */
  readonly refusals: readonly ErrorName[];
  readonly hasBody?: boolean;
  readonly isCall?: boolean;
  /** Its requests have limits by key, person or address. */
  readonly isCounted?: boolean;
  /** Error shape for the route's clients; default: `Error`. */
  readonly errorSchema?: ErrorSchemaName;
  /** Media type of the answers; default: `application/json`. */
  readonly mediaType?: string | undefined;
  /** The operation's own. */
  readonly errors?: readonly ErrorName[] | undefined;
}

/** One answer per status; its description lists the codes with that status. */
export function failures(route: FailingRoute): Answers {
  const { refusals, errors = [], errorSchema = "Error", mediaType = "application/json" } = route;
  const names = [
    ...ALWAYS,
    ...refusals,
    ...(route.hasBody ? WITH_BODY : []),
    ...(route.isCall ? OF_CALLS : []),
    ...(route.isCounted ? COUNTED : []),
    ...errors,
  ];
  const byStatus = new Map<number, Set<string>>();
  for (const name of names) {
    const { status, code } = ERRORS[name];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      failure(errorSchema, mediaType, status, [...codes].map((code) => `\`${code}\``).join(", ")),
    ]),
  );
}

/** An answer with an error. @param meaning where the shape of errors does not give the status one of its own */
export function failure(
  errorSchema: ErrorSchemaName,
  mediaType: string,
  status: number,
  meaning: string,
): Answers[string] {
  const schema = { $ref: `#/components/schemas/${errorSchema}` };
  const scim = errorSchema === "ScimError" ? SCIM_MEANINGS[status] : undefined;
  if (scim === undefined) return { description: meaning, content: { [mediaType]: { schema } } };
  const { description, example } = scim;
  return { description, content: { [mediaType]: { schema, example } } };
}

const message = z.string().describe("What went wrong, for a person. It holds no secret.");
const namesIn = (column: "code" | "type") =>
  z.enum([...new Set(Object.values(ERRORS).map((row) => row[column]))].sort());
const code = namesIn("code").describe("What went wrong, for a program.");
const param = z.string().describe("JSON pointer to the field at fault.");
const more = {
  retry_after_ms: z
    .int()
    .min(0)
    .optional()
    .describe(
      "After so many milliseconds the same request may succeed; also in the header `retry-after-ms`.",
    ),
  details: z.looseObject({}).optional().describe("More about this failure, by its code."),
};

const errorShape = z
  .looseObject({
    error: z
      .looseObject({
        type: namesIn("type").describe("The class of the error."),
        code,
        message,
        param: param.nullable().describe("JSON pointer to the field at fault; null where none is."),
        request_id: field.requestId,
        ...more,
      })
      .describe("What went wrong."),
  })
  .describe("An error on every route but messages and those of directories.");

const messagesErrorShape = z
  .looseObject({
    type: z.literal("error").describe("Always `error`."),
    error: z
      .looseObject({
        type: z.string().describe("Anthropic's name of the class of the error."),
        message,
        code,
        param: param.optional(),
        ...more,
      })
      .describe("What went wrong."),
    request_id: field.requestId,
  })
  .describe("An error as Anthropic's clients read it.");

export const ERROR_SCHEMAS: Readonly<Record<ErrorSchemaName, Schema>> = {
  Error: schemaOf(errorShape, "output"),
  MessagesError: schemaOf(messagesErrorShape, "output"),
  ScimError: schemaOf(SCIM_ERROR_SHAPE, "output"),
};
