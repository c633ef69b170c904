/** Errors in the OpenAPI document: both shapes of an error, and the codes of each route. */
import { ERRORS, type ErrorName } from "../errors.ts";
import type { Answers, Schema } from "./openapi-types.ts";

/** Every route. */
const ALWAYS: readonly ErrorName[] = ["invalid_value", "internal"];
const WITH_BODY: readonly ErrorName[] = ["invalid_json", "payload_too_large", "unsupported_media_type"];
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
  /** Error shape for the route's clients. */
  readonly errorSchema: keyof typeof ERROR_SCHEMAS;
  /** The operation's own. */
  readonly errors: readonly ErrorName[];
}

/** One answer per status; its description lists the codes with that status. */
export function failures({ refusals, hasBody, isCall, errorSchema, errors }: FailingRoute): Answers {
  const names = [
    ...ALWAYS,
    ...refusals,
    ...(hasBody ? WITH_BODY : []),
    ...(isCall ? OF_CALLS : []),
    ...errors,
  ];
  const byStatus = new Map<number, Set<string>>();
  for (const name of names) {
    const { status, code } = ERRORS[name];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  const schema = { $ref: `#/components/schemas/${errorSchema}` };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: [...codes].map((code) => `\`${code}\``).join(", "),
        content: { "application/json": { schema } },
      },
    ]),
  );
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

export const ERROR_SCHEMAS: Readonly<Record<string, Schema>> = {
  Error: {
    type: "object",
    description: "An error on every route but messages.",
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
};
