/** Errors with status 200, and events, that have no member `error`: what only says why there is no answer. */
import { isObject, type JsonObject, objectOf } from "../../json/values.ts";
import { saidBy } from "./said.ts";

/** FastAPI, Cloudflare, AWS, Baidu, Tencent, Apigee and servers like them. */
const NAMES: readonly string[] = [
  "detail",
  "errors",
  "error_message",
  "error_msg",
  "errorMessage",
  "errorMsg",
  "ErrorMsg",
  "err",
  "err_msg",
  "errMsg",
  "errmsg",
  "error_info",
  "failure_reason",
  "exception",
  "fault",
  "Message",
  "Error",
];
/** Beside one of these, a member of {@link SAID} is a failure's (SiliconFlow, gRPC, vLLM, Coze, Databricks): leookun/cursor-byok#129. */
const KINDS: readonly string[] = ["code", "status", "statusCode", "status_code", "error_code"];
const SAID: readonly string[] = ["message", "msg", "error_description"];
/** Envelopes that have an `Error` (Tencent, Volcengine). */
const ENVELOPES: readonly string[] = ["Response", "ResponseMetadata"];
/** What servers that wrap all that they say put where nothing failed. */
const WELL: ReadonlySet<unknown> = new Set([0, 200, "0", "200", "success", "ok"]);

/** Whether a value, of any shape, is an object that says an error. */
export const isErrorObject = (value: unknown): value is JsonObject =>
  isObject(value) && (Boolean(value.error) || isBareError(value));

/** @param value a body or an event that has none of what an answer of its dialect has */
export function isBareError(value: JsonObject): boolean {
  if (value.object === "error" || value.type === "error" || value.success === false) return true;
  if (NAMES.some((name) => isTold(value[name]))) return true;
  // MiniMax: `status_code` is 0 where all is well.
  const code = objectOf(value.base_resp).status_code;
  if (typeof code === "number" && code !== 0) return true;
  if (ENVELOPES.some((name) => isObject(objectOf(value[name]).Error))) return true;
  return SAID.some((name) => isTold(value[name])) && KINDS.some((name) => isKind(value[name]));
}

/**
 * Whether a whole body that has none of what an answer has says why: whatever it is called, it is the reason. A `message` alone may be
 * anything.
 */
export function saysReason(value: JsonObject): boolean {
  if (isBareError(value)) return true;
  const isOther = isTold(value.message) || KINDS.some((name) => WELL.has(value[name]));
  return !isOther && saidBy(value).message !== "";
}

const isKind = (value: unknown): boolean => !WELL.has(value) && (isTold(value) || typeof value === "number");

const isTold = (value: unknown): boolean =>
  isObject(value) || (Array.isArray(value) ? value.length > 0 : typeof value === "string" && value !== "");
