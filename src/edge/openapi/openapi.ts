/**
 * The OpenAPI 3.1 document, generated from the route table: paths, parameters, bodies and answers from the operations'
 * schemas, errors from the error table, scopes from the operations' access. It is made in steps, of an item each: `reference.ts`.
 */
import { z } from "zod";
import type { StreamOperation } from "../../base/operation/event-stream.ts";
import type { AnyOperation } from "../../base/operation/operation.ts";
import { CALLS } from "../../inference/exchange/formats.ts";
import { requestKind } from "../counted.ts";
import type { Route } from "../routes.ts";
import { exampleOf } from "./example.ts";
import { schemaOf } from "./json-schema.ts";
import { ERROR_SCHEMAS, failure, failures } from "./openapi-errors.ts";
import { type EventItem, eventItem } from "./openapi-events.ts";
import { accessText, refusalsOf, schemesOf, securityOf } from "./openapi-security.ts";
import type {
  Answers,
  Content,
  ErrorSchemaName,
  OpenApiDocument,
  OperationItem,
  PageItem,
  Parameter,
  Schema,
} from "./openapi-types.ts";
import { PAGES, TAGS } from "./tags.ts";

export interface DocumentParts {
  readonly routes: readonly Route[];
  readonly pages: readonly PageItem[];
  /** Types of events that webhooks send. */
  readonly events: readonly EventItem[];
  readonly version: string;
  /** Where the gateway is served. */
  readonly address: string;
}

export function* openApiSteps(parts: DocumentParts): Generator<undefined, OpenApiDocument> {
  const { routes, pages, events, version, address } = parts;
  const paths: Record<string, Record<string, OperationItem>> = {};
  for (const route of routes) {
    const item = paths[route.path] ?? {};
    item[route.method.toLowerCase()] = itemOf(route);
    paths[route.path] = item;
    yield undefined;
  }
  for (const page of pages) paths[page.path] = { get: pageItem(page) };
  const webhooks: Record<string, OpenApiDocument["webhooks"][string]> = {};
  for (const event of events) {
    webhooks[event.name] = { post: eventItem(event) };
    yield undefined;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Weir",
      version,
      description:
        "A streaming-first model gateway. Amounts are integers: micro-USD, prices nano-USD a unit.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: address, description: "This gateway." }],
    tags: TAGS,
    paths,
    webhooks,
    components: {
      securitySchemes: schemesOf(paths),
      schemas: ERROR_SCHEMAS,
    },
  };
}

function itemOf(route: Route): OperationItem {
  if ("exchange" in route) return callItem(route);
  if ("stream" in route) return streamItem(route);
  return "hook" in route ? hookItem(route) : operationItem(route);
}

const JSON_TYPE = "application/json";

function pageAnswer(
  status: number,
  { description, schema, type = "text/plain", isError }: PageItem["answers"][string],
): OperationItem["responses"][string] {
  if (isError === true) return failure("Error", "application/json", status, description);
  const content =
    schema === undefined
      ? { [type]: { schema: { type: "string" } as const } }
      : { "application/json": { schema: schemaOf(schema, "output") } };
  return { description, content };
}

function pageItem({ operationId, summary, answers }: PageItem): OperationItem {
  return {
    tags: [PAGES],
    description: "Needs no key.",
    security: [],
    "x-svc-access": "public",
    operationId,
    summary,
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, pageAnswer(Number(status), answer)]),
    ),
  };
}

function callItem(route: Extract<Route, { exchange: unknown }>): OperationItem {
  const kind = CALLS[route.exchange];
  const streams = kind.inquiry === undefined && kind.format.task === "generate";
  return {
    ...common(route),
    operationId: kind.operationId,
    summary: kind.summary,
    ...(kind.query !== undefined && { parameters: parameters(kind.query, "query") }),
    requestBody: body(kind.request),
    responses: {
      200: {
        description: streams ? "The answer; with `stream: true`, events." : "The answer.",
        content: {
          "application/json": { schema: schemaOf(kind.reply, "output") },
          ...(streams && { "text/event-stream": TEXT }),
        },
      },
      ...failures({
        refusals: refusalsOf(route),
        hasBody: true,
        isCall: true,
        errorSchema: kind.format.errorSchema,
      }),
    },
  };
}

function operationItem(route: Extract<Route, { operation: unknown }>): OperationItem {
  const { operation } = route;
  const { mediaType = JSON_TYPE, errorSchema = "Error" } = route.group;
  const status = operation.status ?? 200;
  return {
    ...common(route),
    operationId: operation.name,
    summary:
      route.anthropic === undefined
        ? operation.summary
        : `${operation.summary} With the header \`anthropic-version\`, in Anthropic's shape; \`x-api-key\` is taken as well.`,
    parameters: [...parameters(operation.params, "path"), ...parameters(operation.query, "query")],
    ...(operation.body !== undefined && { requestBody: body(operation.body, mediaType) }),
    responses: {
      [status]: status === 204 || status >= 300 ? bodiless(status) : answerItem(operation, mediaType),
      ...failures({
        refusals: refusalsOf(route),
        errorSchema,
        mediaType,
        hasBody: operation.body !== undefined,
        isCounted: requestKind(route) !== undefined,
        errors: operation.errors,
      }),
      ...otherAnswers(operation, errorSchema, mediaType),
    },
  };
}

/** 200 has the output as its body, from 400 on there is an error in it, and nothing otherwise. */
function otherAnswers(operation: AnyOperation, errorSchema: ErrorSchemaName, mediaType: string): Answers {
  const item = (status: number, description: string): Answers[string] => {
    if (status >= 400) return failure(errorSchema, mediaType, status, description);
    return status === 200 ? { ...answerItem(operation, mediaType), description } : { description };
  };
  const told = Object.entries(operation.otherStatuses ?? {});
  return Object.fromEntries(told.map(([status, meaning]) => [status, item(Number(status), meaning)]));
}

/** It answers with other media types only. */
const isPage = ({ output, otherTypes }: AnyOperation): boolean =>
  output instanceof z.ZodUndefined && otherTypes !== undefined;

/** A redirect has its target in a header of its own. */
function bodiless(status: number): Answers[string] {
  if (status < 300) return { description: "Done." };
  const location = { description: "Where to go.", required: true, schema: { type: "string" } } as const;
  return { description: "To be followed by a browser.", headers: { location } };
}

const answerItem = (operation: AnyOperation, mediaType: string): Answers[string] => ({
  description: "The answer.",
  content: {
    ...(!isPage(operation) && { [mediaType]: shown(schemaOf(operation.output, "output")) }),
    ...Object.fromEntries((operation.otherTypes ?? []).map((type) => [type, TEXT])),
  },
});

/** With an example, if the schema was given one. */
const shown = (schema: Schema): Content[string] => ({
  schema,
  ...(schema.examples !== undefined && { example: schema.examples[0] }),
});

function streamItem(route: Extract<Route, { stream: unknown }>): OperationItem {
  const { stream } = route;
  const isOne = stream.event instanceof z.ZodType;
  const { description, ...shared } = common(route);
  return {
    ...shared,
    description: [stream.description, description].filter((text) => text !== undefined).join(" "),
    operationId: stream.name,
    summary: stream.summary,
    parameters: [...parameters(stream.params, "path"), ...parameters(stream.query, "query")],
    responses: {
      200: {
        description: `Events for as long as the connection lasts; ${isOne ? ONE_EVENT : SEVERAL_EVENTS}`,
        content: { "text/event-stream": { schema: eventsSchema(stream.event) } },
      },
      ...failures({ refusals: refusalsOf(route), isCounted: true, errors: stream.errors }),
    },
  };
}

const ONE_EVENT = "the schema is that of an event's data.";
const SEVERAL_EVENTS =
  "the schema is that of an event: `event` is its name, `data` what the field of that name holds, as JSON.";

/** The data of the only event; or each event with its name, so that a program can tell them apart. */
function eventsSchema(event: StreamOperation["event"]): Schema {
  if (event instanceof z.ZodType) return schemaOf(event, "output");
  const oneOf = Object.entries(event).map(
    ([name, data]): Schema => ({
      title: name,
      type: "object",
      required: ["event", "data"],
      properties: {
        event: { type: "string", const: name, description: "The event's name." },
        data: { ...schemaOf(data, "output"), description: `What \`${name}\` says.` },
      },
    }),
  );
  return { oneOf };
}

function hookItem(route: Extract<Route, { hook: unknown }>): OperationItem {
  const { hook } = route;
  return {
    ...common(route),
    operationId: hook.name,
    summary: hook.summary,
    ...(hook.params !== undefined && { parameters: parameters(hook.params, "path") }),
    requestBody: { required: true, content: { "*/*": { schema: {} } } },
    responses: {
      "2XX": { description: "It was taken." },
      ...failures({ refusals: [], hasBody: true }),
    },
  };
}

const common = (route: Route) => ({
  tags: [route.group.heading],
  description: accessText(route.access),
  security: securityOf(route),
  "x-svc-access": route.access,
});

function body(schema: z.ZodType, mediaType = JSON_TYPE) {
  const json = schemaOf(schema, "input");
  return { required: true, content: { [mediaType]: { schema: json, example: exampleOf(json) } } };
}

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

const TEXT: Content[string] = { schema: { type: "string" } };
