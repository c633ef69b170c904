/** Errors with status 200, and events, that have no member `error`: what only says why there is no answer. */
import { isObject, type JsonObject, objectOf } from "../reader.ts";

/** FastAPI, Cloudflare, AWS, Baidu and servers like them. */
const NAMES = ["detail", "errors", "error_message", "error_msg", "errorMessage", "Message"];
/** Beside one of these `message` is a failure's (SiliconFlow, gRPC, vLLM): leookun/cursor-byok#129. */
const KINDS = ["code", "status", "statusCode", "status_code"];

/** @param value a body or an event that has none of what an answer of its dialect has */
export function isBareError(value: JsonObject): boolean {
  if (value.object === "error" || value.success === false) return true;
  if (NAMES.some((name) => isTold(value[name]))) return true;
  // MiniMax: `status_code` is 0 where all is well.
  const code = objectOf(value.base_resp).status_code;
  if (typeof code === "number" && code !== 0) return true;
  return (
    isTold(value.message) && KINDS.some((name) => isTold(value[name]) || typeof value[name] === "number")
  );
}

const isTold = (value: unknown): boolean =>
  isObject(value) || (Array.isArray(value) ? value.length > 0 : typeof value === "string" && value !== "");
