/**
 * Runs an operation for a request: validates path, query and body by its schemas, runs it, writes its answer. Errors of
 * the input name the field by a JSON pointer; for an unknown field of a body they suggest the nearest known one.
 */
import { z } from "zod";
import { inTime } from "../base/clock.ts";
import { pointerTo } from "../base/document/document.ts";
import { nearest } from "../base/document/nearest.ts";
import { fail } from "../base/errors.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { type AnswerParts, type AnswerStream, FullAnswer } from "../base/operation/answer.ts";
import type { HttpHead } from "../base/operation/http-head.ts";
import type { AnyOperation, Caller, Inputs, Named } from "../base/operation/operation.ts";

export interface Answer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string | Buffer;
  /** Path of a file to be sent as the body. */
  readonly file?: string;
  /** Sent as the body, as it comes. */
  readonly stream?: AnswerStream;
}

export interface OperationInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  /** Empty where none was sent. */
  readonly body: Buffer;
}

/**
 * @param withinMs timeout of the operation
 * @throws WeirError, `storage_unavailable` also on a timeout; anything else is an internal error.
 */
export async function perform(
  operation: Named<AnyOperation>,
  input: OperationInput,
  caller: Caller,
  head: HttpHead,
  withinMs: number = LONGEST_MS,
): Promise<Answer> {
  const inputs = inputsOf(operation, input);
  const result = await finished(operation.name, operation.run(inputs, caller, head), withinMs);
  const usualStatus = operation.status ?? 200;
  if (!(result instanceof FullAnswer))
    return withJson(operation, { status: usualStatus, headers: [], body: "" }, result);
  return withJson(operation, answerOf(result, usualStatus), result.content.json);
}

/** Validates the inputs of an operation or a stream. @throws WeirError 400 that names the field by a pointer */
export function inputsOf(
  { params, query, body }: Pick<AnyOperation, "params" | "query" | "body">,
  input: OperationInput,
): Inputs<undefined, undefined, undefined> {
  return {
    params: check(params, input.params, "path"),
    query: check(query, queryOf(input.query), "query"),
    body: body === undefined ? undefined : check(body, bodyOf(input), "body"),
  };
}

/** Builds an answer from its parts; without content it has no body. */
export function answerOf({ parts, content }: FullAnswer<unknown>, usualStatus: number): Answer {
  const status = parts.status ?? usualStatus;
  if (!Number.isInteger(status) || status < 200 || status > 399) throw new Error(`${status} is no answer`);
  const headers = headersOf(parts);
  if (content.file !== undefined) {
    const { type, path } = content.file;
    return { status, headers: ["content-type", type, ...headers], body: "", file: path };
  }
  if (content.stream !== undefined) {
    const { stream } = content;
    return { status, headers: ["content-type", stream.type, ...headers], body: "", stream };
  }
  if (content.bytes === undefined) return { status, headers, body: "" };
  const { type, body } = content.bytes;
  return {
    status,
    headers: ["content-type", type, ...headers],
    // Bytes are not copied: some are megabytes.
    body: typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength),
  };
}

/** Writes only fields that the schema contains. @param value undefined: no JSON */
function withJson({ output }: AnyOperation, answer: Answer, value: unknown): Answer {
  if (answer.status === 204 || value === undefined) return answer;
  const body = JSON.stringify(output.parse(value));
  return { ...answer, headers: ["content-type", "application/json", ...answer.headers], body };
}

/** Alternating names and values. @throws Error where a value contains a line end: it may come from a client */
function headersOf({ headers = {}, cookies = [] }: AnswerParts): string[] {
  const all = [...Object.entries(headers), ...cookies.map((cookie) => ["set-cookie", cookie])].flat();
  const broken = all.find((text) => /[^\t\x20-\x7e\x80-\xff]/.test(text));
  if (broken !== undefined) throw new Error("a header of the answer holds a control character");
  return all;
}

/**
 * Threads and analytics time out after 60 s themselves: an operation that takes longer waits for a store that cannot
 * write.
 */
const LONGEST_MS = 90_000;

async function finished<T>(name: string, result: MaybePromise<T>, withinMs: number): Promise<T> {
  if (!(result instanceof Promise)) return result;
  return await inTime(result, withinMs, () => {
    const message = `${name} was not finished within ${withinMs / 1000} s: the store cannot write now. It may still come into force; look before you repeat it.`;
    throw fail("storage_unavailable", message, { retryable: false });
  });
}

/** A repeated key becomes an array. */
function queryOf(query: string): Record<string, string | string[]> {
  const out: Record<string, string | string[]> = {};
  for (const [key, value] of new URLSearchParams(query)) {
    const before = Object.hasOwn(out, key) ? out[key] : undefined;
    if (Array.isArray(before)) before.push(value);
    else out[key] = before === undefined ? value : [before, value];
  }
  return out;
}

function bodyOf({ body }: OperationInput): unknown {
  if (body.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw fail("invalid_json", "The body is not valid JSON.");
  }
  refuseCrowded(value);
  return value;
}

/** Maximum number of values in a control-plane body: the longest lists have a few hundred. */
const MAX_VALUES = 4000;

/** Validation takes a microsecond per value and several per wrong one: too many are refused before it. */
function refuseCrowded(body: unknown): void {
  if (typeof body !== "object" || body === null) return;
  let values = 0;
  for (const [key, member] of Object.entries(body)) {
    const open: unknown[] = [member];
    for (let value = open.pop(); value !== undefined; value = open.pop()) {
      if (++values > MAX_VALUES) {
        const param = pointerTo([key]);
        throw fail("invalid_value", `The body has more than ${MAX_VALUES} values.`, { param });
      }
      if (typeof value === "object" && value !== null)
        open.push(...Object.values(value).slice(0, MAX_VALUES + 1));
    }
  }
}

function check(schema: z.ZodType | undefined, value: unknown, where: "path" | "query" | "body"): undefined {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  // The operation's types describe the value; here it is opaque.
  if (parsed.success) return parsed.data as undefined;
  const issue = parsed.error.issues[0] as z.core.$ZodIssue;
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const near = nearest(key, knownKeys(schema));
    const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
    throw fail("invalid_value", `Unknown field "${key}".${hint}`, { param: pointerTo([...issue.path, key]) });
  }
  if (value === undefined) throw fail("invalid_json", "A JSON body is required.");
  const pointer = pointerTo(issue.path);
  throw fail(
    "invalid_value",
    `${where === "body" ? "" : `${where} `}${pointer || "The value"}: ${issue.message}.`,
    {
      param: pointer,
    },
  );
}

const knownKeys = (schema: z.ZodType): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
