/** Errors in the OpenAPI document: the shapes of an error, and the codes of each route. */
import { ERRORS, type ErrorName } from "../../base/errors.ts";
import { SCIM_ERROR_SCHEMA, SCIM_MEANINGS } from "./openapi-scim.ts";
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
  readonly hasBody: boolean;
  readonly isCall: boolean;
  /** Its requests have limits by key, person or address. */
  readonly isCounted: boolean;
  /** Error shape for the route's clients. */
  readonly errorSchema: ErrorSchemaName;
  /** Media type of the answers; default: `application/json`. */
  readonly mediaType?: string | undefined;
  /** The operation's own. */
  readonly errors: readonly ErrorName[];
}

/** One answer per status; its description lists the codes with that status. */
export function failures(route: FailingRoute): Answers {
  const { refusals, hasBody, isCall, isCounted, errorSchema, errors, mediaType = "application/json" } = route;
  const names = [
    ...ALWAYS,
    ...refusals,
    ...(hasBody ? WITH_BODY : []),
    ...(isCall ? OF_CALLS : []),
    ...(isCounted ? COUNTED : []),
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

const text = (description: string): Schema => ({ type: "string", description });

const message = text("What went wrong, for a person. It holds no secret.");
const requestId = text("Names the call; also in the header `x-svc-request-id`.");
const code: Schema = {
  ...text("What went wrong, for a program."),
  enum: [...new Set(Object.values(ERRORS).map((row) => row.code))].sort(),
};
const more = {
  param: text("JSON pointer to the field at fault."),
  retry_after_ms: {
    type: "integer",
    description:
      "After so many milliseconds the same request may succeed; also in the header `retry-after-ms`.",
  },
  details: { type: "object", description: "More about this failure, by its code." },
} satisfies Record<string, Schema>;

export const ERROR_SCHEMAS: Readonly<Record<ErrorSchemaName, Schema>> = {
  Error: {
    type: "object",
    description: "An error on every route but messages and those of directories.",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        description: "What went wrong.",
        required: ["type", "code", "message", "request_id"],
        properties: {
          type: {
            ...text("The class of the error."),
            enum: [...new Set(Object.values(ERRORS).map((row) => row.type))].sort(),
          },
          code,
          message,
          request_id: requestId,
          ...more,
        },
      },
    },
  },
  MessagesError: {
    type: "object",
    description: "An error as Anthropic's clients read it.",
    required: ["type", "error", "request_id"],
    properties: {
      type: { ...text("Always `error`."), const: "error" },
      error: {
        type: "object",
        description: "What went wrong.",
        required: ["type", "message", "code"],
        properties: { type: text("Anthropic's name of the class of the error."), message, code, ...more },
      },
      request_id: requestId,
    },
  },
  ScimError: SCIM_ERROR_SCHEMA,
};
