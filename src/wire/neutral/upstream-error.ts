/**
 * An upstream's account of a failure: read for its code and message, and it goes no further than that.
 */
import type { UpstreamError } from "./contract.ts";
import { isObject, listOf, objectOf } from "./reader.ts";

const MESSAGE_LIMIT = 2000;
/** Characters of a code or a type. */
const WORD_LIMIT = 200;

const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

const word = (value: unknown): string => text(value).slice(0, WORD_LIMIT);

/** Google's machine-readable reason, of an ErrorInfo among the details (google.rpc). */
function googleReason(details: unknown): string {
  const info = listOf(details)
    .map(objectOf)
    .find((detail) => "reason" in detail);
  return word(info?.reason);
}

/** Google says when to come back in no header, but among the details (google.rpc.RetryInfo): "20.04s". */
function googleWaitMs(details: unknown): number | undefined {
  for (const detail of listOf(details)) {
    const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(text(objectOf(detail).retryDelay)) ?? [];
    if (seconds !== undefined && Number(seconds) > 0) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}

/** `error` member of a body or event: an object, or a bare string as some servers send. */
export function readErrorValue(value: unknown): UpstreamError {
  if (typeof value === "string") return { code: "", type: "", message: value.slice(0, MESSAGE_LIMIT) };
  const error = objectOf(value);
  const retryAfterMs = googleWaitMs(error.details);
  return {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    // Its `code` repeats the status.
    code: googleReason(error.details) || word(error.code),
    // Google names the kind in `status`.
    type: word(error.type) || word(error.status),
    message: text(error.message).slice(0, MESSAGE_LIMIT),
  };
}

/**
 * The body of an upstream's error answer, whatever it is.
 * @param kind what a header says of it (AWS names the exception in `x-amzn-errortype`).
 */
export function readErrorBody(bytes: Buffer, kind = ""): UpstreamError {
  const read = readBody(bytes);
  return kind === "" || read.type !== "" ? read : { ...read, type: kind.split(":", 1)[0] ?? "" };
}

function readBody(bytes: Buffer): UpstreamError {
  try {
    const read: unknown = JSON.parse(bytes.toString());
    // Gemini's compatible endpoint wraps the error in a list.
    const body: unknown = Array.isArray(read) ? read[0] : read;
    if (isObject(body)) {
      // xAI: {"code":…,"error":"…"}.
      if ("error" in body && typeof body.error === "string" && "code" in body) {
        return { ...readErrorValue(body.error), code: word(body.code) };
      }
      if ("error" in body) return readErrorValue(body.error);
      // vLLM and FastAPI: {"object":"error","message":…} and {"detail":…}.
      if ("message" in body) return readErrorValue(body);
      if ("detail" in body) return readErrorValue(body.detail);
    }
  } catch {
    // An HTML page or a cut body: its text is not ours to show.
  }
  return { code: "", type: "", message: "" };
}
