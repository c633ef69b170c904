/**
 * Every way an upstream can fail, and how the call then ends: alone, as the first of two endpoints, and as the second.
 * `whole` and `stream` say what a caller sees where no other endpoint may help.
 */

/** How a call ends: an HTTP error, an error event in a stream that had begun, or an answer. */
export interface Ending {
  /** 200: an answer, or a stream that began. */
  readonly status: number;
  /** `error.code`, of the body or of the event; absent: the answer is whole. */
  readonly code?: string;
  /** `outcome http_status error_class` of the one attempt. */
  readonly attempt: string;
  /** Another endpoint is asked instead, where there is one. */
  readonly fallsBack: boolean;
  /** Something was delivered and is charged for. */
  readonly charged: boolean;
}

export interface FaultCase {
  readonly name: string;
  /** Simulator instruction; undefined: nobody listens. */
  readonly instruction: Readonly<Record<string, unknown>> | undefined;
  readonly whole: Ending;
  readonly stream: Ending;
}

const refused = (status: number, code: string, attempt: string, fallsBack = true): Ending => ({
  status,
  code,
  attempt,
  fallsBack,
  charged: false,
});
/** A stream that broke after content had left. */
const broken = (code: string, attempt: string): Ending => ({
  status: 200,
  code,
  attempt,
  fallsBack: false,
  charged: true,
});
const ok: Ending = { status: 200, attempt: "ok 200", fallsBack: false, charged: true };

const both = (name: string, instruction: FaultCase["instruction"], ending: Ending): FaultCase => ({
  name,
  instruction,
  whole: ending,
  stream: ending,
});

const ERROR = "upstream_error";
const UNREADABLE = "upstream_invalid_response";
const TIMEOUT = "upstream_timeout";
const CAPACITY = "upstream_capacity";

export const FAULTS: readonly FaultCase[] = [
  both("connection refused", undefined, refused(502, ERROR, "connect_error 0 network")),
  both("reset before the head", { fault: "reset" }, refused(502, ERROR, "stream_error 0 network")),
  both("429", { status: 429, retry_after: 7 }, refused(429, CAPACITY, "rate_limited 429 capacity")),
  both("503", { status: 503 }, refused(429, CAPACITY, "http_error 503 capacity")),
  both("500", { status: 500 }, refused(502, ERROR, "http_error 500 server")),
  both("401", { status: 401 }, refused(502, ERROR, "http_error 401 auth")),
  both("400", { status: 400 }, refused(400, "upstream_rejected", "http_error 400 client", false)),
  both("422", { status: 422 }, refused(422, "upstream_rejected", "http_error 422 client", false)),
  both("404", { status: 404 }, refused(404, "upstream_rejected", "http_error 404 client")),
  both("hang", { fault: "hang" }, refused(504, TIMEOUT, "timeout 0 timeout")),
  // To a stream it says application/json, which is read as what it is.
  both("half a JSON body", { fault: "half_json" }, refused(502, ERROR, "stream_error 200 network")),
  both(
    "T14: an error first, under 200",
    { fault: "error_first" },
    refused(502, ERROR, "stream_error 200 server"),
  ),
  both(
    "T14: overloaded first, under 200",
    { fault: "error_first", error_type: "overloaded_error" },
    refused(429, CAPACITY, "rate_limited 200 capacity"),
  ),
  both(
    "wrong content type",
    { fault: "wrong_type" },
    refused(502, UNREADABLE, "invalid_response 200 protocol"),
  ),
  both("gzip nobody asked for", { gzip: true }, ok),
  both(
    "T9: no newline ever",
    { fault: "no_newline_ever" },
    refused(502, UNREADABLE, "invalid_response 200 protocol"),
  ),
  {
    name: "empty body",
    instruction: { fault: "empty_body" },
    whole: refused(502, UNREADABLE, "invalid_response 200 protocol"),
    stream: refused(502, UNREADABLE, "stream_error 200 protocol"),
  },
  {
    name: "reset mid-way",
    instruction: { fault: "reset_mid", after: 4 },
    whole: refused(502, ERROR, "stream_error 200 network"),
    stream: broken(ERROR, "stream_error 200 network"),
  },
  {
    name: "cut mid-way",
    instruction: { fault: "cut_mid", after: 4 },
    whole: refused(502, ERROR, "stream_error 200 network"),
    stream: broken(ERROR, "stream_error 200 network"),
  },
  {
    name: "clean close without [DONE]",
    instruction: { fault: "close_mid", after: 4 },
    whole: refused(502, ERROR, "stream_error 200 network"),
    stream: broken(UNREADABLE, "stream_error 200 protocol"),
  },
  {
    name: "error event mid-way",
    instruction: { fault: "error_mid", after: 4 },
    whole: refused(502, ERROR, "stream_error 200 server"),
    stream: broken(ERROR, "stream_error 200 server"),
  },
  {
    name: "T12: silence mid-way",
    instruction: { fault: "stall", after: 4 },
    whole: refused(504, TIMEOUT, "timeout 200 timeout"),
    stream: broken(TIMEOUT, "timeout 200 timeout"),
  },
  {
    name: "T12: a malformed event",
    instruction: { fault: "malformed", after: 4 },
    whole: refused(502, UNREADABLE, "invalid_response 200 protocol"),
    stream: ok,
  },
  { ...both("no final newline", { fault: "no_final_newline" }, ok) },
  { ...both("T6: comments", { comments: true }, ok) },
  { ...both("CRLF", { crlf: true }, ok) },
];
