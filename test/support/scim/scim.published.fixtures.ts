/** Answers of the routes of SCIM, held against what `/openapi.json` of the same gateway says of them. */
import { z } from "zod";
import type { OpenApiDocument, OperationItem, Schema } from "../../../src/edge/openapi/openapi-types.ts";
import type { Answer } from "../gateway.ts";
import { httpCall } from "../http-client.ts";

const ROOT = "/scim/v2";
const MEDIA_TYPE = "application/scim+json";

const documents = new Map<string, Promise<OpenApiDocument>>();

/** Operation and status of each answer that was held against the document. */
export const answered = new Set<string>();

export function documentOf(url: string): Promise<OpenApiDocument> {
  const document =
    documents.get(url) ??
    httpCall("GET", `${url}/openapi.json`, {}).then((answer) => JSON.parse(answer?.text ?? ""));
  documents.set(url, document);
  return document;
}

/** @param path below the root of SCIM. @throws Error that says what is not as it is published */
export async function assertPublished(
  url: string,
  method: string,
  path: string,
  answer: Answer,
): Promise<void> {
  const document = await documentOf(url);
  const fault = faultOf(document, itemOf(document, method, path), answer);
  if (fault !== undefined) throw new Error(`${method} ${path}: ${fault}\n${answer.text.slice(0, 2000)}`);
}

/** Undefined where no operation is: the failure still has its shape. */
function itemOf({ paths }: OpenApiDocument, method: string, path: string): OperationItem | undefined {
  const [, collection = "", id] = (path.split("?")[0] ?? "").split("/");
  const template = `${ROOT}/${collection}${id === undefined ? "" : "/{id}"}`;
  return paths[template]?.[method.toLowerCase()];
}

/** What of the answer is not as the document says; undefined if all is. */
export function faultOf(
  document: OpenApiDocument,
  item: OperationItem | undefined,
  { status, headers, text }: Pick<Answer, "status" | "headers" | "text">,
): string | undefined {
  const errors: Schema = { $ref: "#/components/schemas/ScimError" };
  const promised =
    item === undefined ? { content: { [MEDIA_TYPE]: { schema: errors } } } : item.responses[status];
  if (promised === undefined) return `${status} is not published`;
  answered.add(`${item?.operationId} ${status}`);
  const type = headers.get("content-type") ?? "";
  const [expected = "", content] = Object.entries(promised.content ?? {})[0] ?? [];
  if (content === undefined) return text === "" ? undefined : `${status} is published without a body`;
  if (type !== expected || type !== MEDIA_TYPE) return `"${type}" is sent and "${expected}" is published`;
  const { success, error } = shapeOf(document, content.schema).safeParse(JSON.parse(text));
  return success ? undefined : z.prettifyError(error);
}

/** The schema as a parser; of references those to components. */
export function shapeOf({ components }: OpenApiDocument, schema: Schema): z.ZodType {
  const name = schema.$ref?.split("/").at(-1);
  const schemas = components.schemas as Readonly<Record<string, Schema>>;
  const whole = name === undefined ? schema : schemas[name];
  return z.fromJSONSchema(whole as Parameters<typeof z.fromJSONSchema>[0]);
}
