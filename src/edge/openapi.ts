/**
 * The OpenAPI 3.1 document, generated from the route table: paths, parameters, bodies and answers from the operations'
 * schemas, errors from the error table, the scope each route needs from its row. Built once a process.
 */
import { z } from "zod";
import { ERRORS, type ErrorName } from "../errors.ts";
import { CALLS } from "../exchange/formats.ts";
import type { Route } from "./routes.ts";

export type Json = Record<string, unknown>;
export type Schema = z.core.JSONSchema.BaseSchema;

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly schema: Schema;
  readonly description?: string;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface OperationItem {
  readonly operationId: string;
  readonly summary: string;
  /** Who may call it. */
  readonly description: string;
  readonly tags: readonly string[];
  /** Empty where no key is needed, absent where one is. */
  readonly security?: readonly [];
  readonly "x-svc-access": string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  /** By status. */
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly security: readonly Json[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationItem>>>>;
  readonly components: Json;
}

const ALWAYS: readonly ErrorName[] = ["invalid_value", "internal"];
const WITH_KEY: readonly ErrorName[] = ["missing_key", "invalid_key", "expired_key", "revoked_key", "scope"];
const OF_CALLS: readonly ErrorName[] = [
  "invalid_json",
  "unsupported_option",
  "context_length_exceeded",
  "upstream_rejected",
  "insufficient_credits",
  "budget_exceeded",
  "model_not_found",
  "no_endpoint",
  "payload_too_large",
  "rpm",
  "tpm",
  "concurrency",
  "upstream_capacity",
  "upstream_all_out",
  "upstream_error",
  "upstream_invalid_response",
  "upstream_timeout",
  "shutting_down",
];

export function openApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const paths: Record<string, Record<string, OperationItem>> = {};
  for (const route of routes) {
    const item = paths[route.path] ?? {};
    item[route.method.toLowerCase()] = "exchange" in route ? callItem(route) : operationItem(route);
    paths[route.path] = item;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Weir",
      version,
      description:
        "A streaming-first model gateway. Amounts are integers: micro-USD, prices nano-USD a unit.",
    },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer", description: "An API key: `svc-live-…`" } },
      schemas: { Error: errorSchema },
    },
  };
}

function callItem(route: Extract<Route, { exchange: unknown }>): OperationItem {
  const kind = CALLS[route.exchange];
  const streams = kind.inquiry === undefined && kind.format.task === "generate";
  return {
    ...common(route),
    operationId: kind.operationId,
    summary: kind.summary,
    requestBody: body(kind.request),
    responses: {
      200: {
        description: streams ? "The answer; with `stream: true`, events." : "The answer.",
        content: {
          "application/json": { schema: schemaOf(kind.reply, "output") },
          ...(streams && { "text/event-stream": { schema: { type: "string" } } }),
        },
      },
      ...failures([...ALWAYS, ...WITH_KEY, ...OF_CALLS]),
    },
  };
}

function operationItem(route: Extract<Route, { operation: unknown }>): OperationItem {
  const { operation } = route;
  const status = operation.status ?? 200;
  const errors = [...ALWAYS, ...(route.access === "public" ? [] : WITH_KEY), ...(operation.errors ?? [])];
  return {
    ...common(route),
    operationId: operation.name,
    summary: operation.summary,
    parameters: [...parameters(operation.path, "path"), ...parameters(operation.query, "query")],
    ...(operation.body !== undefined && { requestBody: body(operation.body) }),
    responses: {
      [status]:
        status === 204
          ? { description: "Done." }
          : {
              description: "The answer.",
              content: { "application/json": { schema: schemaOf(operation.output, "output") } },
            },
      ...failures(errors),
    },
  };
}

const common = (route: Route) => ({
  tags: [route.group],
  description: access(route),
  ...(route.access === "public" && { security: [] as const }),
  "x-svc-access": route.access,
});

function access({ access }: Route): string {
  if (access === "public") return "Needs no key.";
  return access === "key" ? "Needs a working key." : `Needs a key with the scope \`${access}\`.`;
}

const body = (schema: z.ZodType) => ({
  required: true,
  content: { "application/json": { schema: schemaOf(schema, "input") } },
});

function parameters(schema: z.ZodType | undefined, where: "path" | "query"): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, "input");
  return Object.entries(properties).flatMap(([name, value]) => {
    if (typeof value === "boolean") return [];
    const isRequired = where === "path" || required.includes(name);
    const { description } = value;
    return [
      {
        name,
        in: where,
        required: isRequired,
        schema: value,
        ...(description !== undefined && { description }),
      },
    ];
  });
}

/** One answer a status; its description lists the codes that come with it. */
function failures(names: readonly ErrorName[]): OperationItem["responses"] {
  const byStatus = new Map<number, Set<string>>();
  for (const name of names) {
    const { status, code } = ERRORS[name];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: [...codes].map((code) => `\`${code}\``).join(", "),
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    ]),
  );
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): Schema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

const errorSchema: Schema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["type", "code", "message", "request_id"],
      properties: {
        type: { type: "string" },
        code: { type: "string" },
        message: { type: "string" },
        request_id: { type: "string" },
        param: { type: "string", description: "JSON pointer to the field at fault." },
        retry_after_ms: { type: "integer" },
        details: { type: "object" },
      },
    },
  },
};
