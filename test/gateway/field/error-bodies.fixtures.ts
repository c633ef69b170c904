/** Bodies of errors in the shapes in which servers say their reason. */

/** What all shapes say; the field where the shape names one. */
export const REASON = "temperature must be at most 1.5";

export interface Shape {
  readonly name: string;
  readonly body: unknown;
  /** Behind what stands before the reason. */
  readonly told?: string;
  readonly type?: string;
  readonly report?: string;
}

export const inner = { error: { message: REASON, type: "invalid_request_error", code: "bad" } };
const fault = {
  loc: ["body", "temperature"],
  msg: "Input should be less than or equal to 1.5",
  type: "x",
  input: 9,
};
const FAULT = "body.temperature: Input should be less than or equal to 1.5";

export const SHAPES: readonly Shape[] = [
  { name: "OpenAI's", body: inner },
  { name: "Anthropic's", body: { type: "error", error: { type: "invalid_request_error", message: REASON } } },
  { name: "Google's list", body: [{ error: { code: 400, message: REASON, status: "INVALID_ARGUMENT" } }] },
  { name: "a status of gRPC's", body: { code: 3, message: REASON, details: [] } },
  { name: "AWS's", body: { message: REASON } },
  {
    name: "AWS's, with a capital",
    body: { __type: "com.amazon.coral.validate#ValidationException", Message: REASON },
  },
  { name: "FastAPI's text", body: { detail: REASON } },
  { name: "FastAPI's list", body: { detail: [fault] }, told: FAULT },
  {
    name: "two faults",
    body: { detail: [fault, { loc: ["body", "n"], msg: "too many" }] },
    told: `${FAULT}; body.n: too many`,
  },
  {
    name: "Mistral's",
    body: { object: "error", message: { detail: [fault] }, type: "invalid_request_error" },
    told: FAULT,
  },
  { name: "vLLM's", body: { object: "error", message: REASON, type: "BadRequestError", code: 400 } },
  { name: "xAI's", body: { code: "Client specified an invalid argument", error: REASON } },
  { name: "Ollama's", body: { error: REASON } },
  { name: "texts in errors", body: { errors: [REASON] } },
  {
    name: "Cloudflare's errors",
    body: { success: false, errors: [{ code: 7003, message: REASON }], messages: [], result: {} },
  },
  {
    name: "ASP.NET's errors by field",
    body: {
      type: "https://tools.ietf.org/html/rfc9110",
      title: "One or more validation errors occurred.",
      status: 400,
      errors: { temperature: ["must be at most 1.5"] },
    },
    told: "One or more validation errors occurred.: temperature: must be at most 1.5",
  },
  {
    name: "problem details",
    body: { type: "about:blank", title: "Bad Request", status: 400, detail: REASON },
  },
  {
    name: "Spring's",
    body: { timestamp: 1, status: 400, error: "Bad Request", message: REASON, path: "/v1" },
  },
  { name: "msg", body: { code: 400, msg: REASON } },
  { name: "error_message", body: { error_message: REASON } },
  { name: "error_msg", body: { error_code: 336, error_msg: REASON } },
  { name: "errorMessage", body: { errorType: "x", errorMessage: REASON } },
  { name: "success and message", body: { success: false, message: REASON } },
  { name: "MiniMax's", body: { base_resp: { status_code: 2013, status_msg: REASON } } },
  { name: "an error within an error", body: { error: inner } },
  { name: "an object as message", body: { error: { message: { error: REASON }, code: 400 } } },
  {
    name: "JSON as message",
    body: { error: { message: JSON.stringify(inner), code: 400 } },
    report: "google-gemini/gemini-cli#4231",
  },
  {
    name: "LiteLLM's",
    body: {
      error: {
        message: `litellm.BadRequestError: OpenAIException - ${JSON.stringify(inner)}. Received Model Group=secret-group\nAvailable Model Group Fallbacks=None`,
        type: "None",
        param: "None",
        code: "400",
      },
    },
    report: "anthropics/claude-code#11302",
  },
  {
    name: "another router's",
    body: {
      error: {
        message: `Error from provider(mimo,m: 400): ${JSON.stringify(inner)}Error: at x`,
        code: "provider_response_error",
      },
    },
    report: "musistudio/claude-code-router#583",
  },
  {
    name: "Python's",
    body: { error: { message: `Error code: 400 - {'error': {'message': "${REASON}", 'code': None}}` } },
  },
  {
    name: "OpenRouter's raw text",
    body: {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: { raw: JSON.stringify(inner), provider_name: "P" },
      },
    },
  },
  {
    name: "OpenRouter's raw object",
    body: { error: { message: "Provider returned error", code: 400, metadata: { raw: inner } } },
    report: "truefoundry/models#873",
  },
  {
    name: "MiMo's param",
    body: { error: { message: "Param Incorrect", param: REASON, code: "400" } },
    told: `Param Incorrect: ${REASON}`,
    report: "AQBot-Desktop/AQBot#93",
  },
  {
    name: "details of a gateway",
    body: { error: "DeepSeek API error: 400", status: 500, details: inner },
    report: "pollinations/pollinations#1290",
  },
  { name: "a text", body: REASON, type: "text/plain" },
  { name: "a text as JSON", body: JSON.stringify(REASON) },
  {
    name: "a page's title",
    body: `<html><head><title>${REASON}</title></head><body>http://10.0.0.5</body></html>`,
    type: "text/html",
  },
  {
    name: "AWS's XML",
    body: `<?xml version="1.0"?><Error><Code>X</Code><Message>${REASON}</Message></Error>`,
    type: "application/xml",
  },
  {
    name: "an event",
    body: `: PROCESSING\n\nevent: error\ndata: ${JSON.stringify(inner)}\n\n`,
    type: "text/event-stream",
  },
  {
    name: "a body that was cut",
    body: JSON.stringify({ error: { message: REASON, input: "x".repeat(99) } }).slice(0, 90),
  },
  { name: "a message that was cut", body: `{"error":{"type":"x","message":"${REASON}` },
  {
    name: "more than is read",
    body: JSON.stringify({ detail: [{ ...fault, input: "x".repeat(200_000) }] }),
    told: FAULT,
  },
  {
    name: "a stack trace",
    body: {
      detail: `Traceback (most recent call last):\n  File "/srv/app/x.py", line 1\nValueError: ${REASON}`,
    },
    told: `ValueError: ${REASON}`,
  },
  {
    name: "Django's, of no field",
    body: { non_field_errors: [REASON] },
    report: "weni-ai/bothub-webapp#150",
  },
  { name: "Django's, of all", body: { __all__: [REASON] }, report: "nautobot/nautobot#3719" },
  {
    name: "Django's, by field",
    body: { temperature: ["must be at most 1.5"], stop: ["too many"] },
    told: "temperature: must be at most 1.5; stop: too many",
    report: "nautobot/nautobot#3719",
  },
  {
    name: "by a field that is no known one",
    body: { errors: { Overloaded: ["is unknown"] } },
    told: '"Overloaded": is unknown',
  },
  { name: "Coze's", body: { code: 4100, msg: REASON }, report: "coze-dev/coze-py#78" },
  {
    name: "Spark's",
    body: { header: { code: 11200, message: REASON, sid: "c", status: 2 } },
    report: "binary-husky/gpt_academic#1230",
  },
  { name: "Tencent's", body: { Response: { Error: { Code: "InvalidParameter", Message: REASON } } } },
  {
    name: "Volcengine's",
    body: { ResponseMetadata: { Error: { Code: "InvalidParameter", Message: REASON } } },
  },
  {
    name: "Databricks'",
    body: { error_code: "BAD_REQUEST", message: REASON },
    report: "567-labs/instructor#691",
  },
  {
    name: "Databricks' of a model behind it",
    body: {
      error: "Received error from databricks-model-serving",
      external_model_message: { error_code: "INVALID_PARAMETER_VALUE", message: REASON },
    },
    report: "databricks-demos/dbdemos#97",
  },
  {
    name: "Dify's",
    body: { code: "invalid_param", message: REASON, status: 400 },
    report: "langgenius/dify#482",
  },
  {
    name: "vLLM's faults as Python writes them",
    body: {
      object: "error",
      message: `[{'type': 'x', 'loc': ('body', 'temperature'), 'msg': '${fault.msg}', 'input': {'a': None}, 'ctx': {'error': ValueError('x')}}]`,
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    told: FAULT,
    report: "vllm-project/vllm#3906",
  },
  {
    name: "LiteLLM's bytes",
    body: {
      error: {
        message: `litellm.BadRequestError: VertexAIException BadRequestError - b'${JSON.stringify(inner, null, 2).replaceAll("\n", "\\n")}\\n'`,
        code: "400",
      },
    },
    report: "BerriAI/litellm#9733",
  },
  {
    name: "a gateway's over lines",
    body: { error: { message: `Error from provider:\n Provider returned error\n ${JSON.stringify(inner)}` } },
    report: "earendil-works/pi#4138",
  },
  {
    name: "ASP.NET's exception",
    body: { Message: "An error has occurred.", ExceptionMessage: REASON, StackTrace: "at x" },
  },
  {
    name: "SageMaker's",
    body: { ErrorCode: "x", Message: "Received client error (400) from primary", OriginalMessage: REASON },
  },
  ...["errorMsg", "errMsg", "errmsg", "err_msg", "err", "failure_reason", "exception", "reason"].map(
    (name): Shape => ({ name, body: { [name]: REASON } }),
  ),
  ...["err", "error_info", "Error", "ErrorMsg", "result", "response", "fault"].map(
    (name): Shape => ({ name: `an object as ${name}`, body: { [name]: { message: REASON, code: "x" } } }),
  ),
];

/** An error's body that is no JSON as a whole, or in no usual encoding. */
export interface TextShape {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly told?: string;
}

const EVENTS = "text/event-stream";
const JSON_TYPE = "application/json";
const json = JSON.stringify(inner);
const utf16 = Buffer.from(json, "utf16le");

export const TEXTS: readonly TextShape[] = [
  // ggml-org/llama.cpp#16109
  { name: "llama.cpp's field", type: EVENTS, bytes: Buffer.from(`error: ${json}\n\ndata: [DONE]\n\n`) },
  {
    name: "an event behind a ping",
    type: EVENTS,
    bytes: Buffer.from(`: ping\n\nevent: ping\ndata: {"type":"ping"}\n\nevent: error\ndata: ${json}\n\n`),
  },
  { name: "an event behind an empty one", type: EVENTS, bytes: Buffer.from(`data:\n\ndata: ${json}\n\n`) },
  {
    name: "an event behind the beginning of an answer",
    type: EVENTS,
    bytes: Buffer.from(`data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: ${json}\n\n`),
  },
  { name: "an event that is a text", type: EVENTS, bytes: Buffer.from(`event: error\ndata: ${REASON}\n\n`) },
  {
    name: "an event whose lines end in CRLF",
    type: EVENTS,
    bytes: Buffer.from(`event: error\r\ndata: ${json}\r\n\r\n`),
  },
  {
    name: "lines",
    type: "application/x-ndjson",
    bytes: Buffer.from(
      `{"model":"m","message":{"content":"x"},"done":false}\n${JSON.stringify({ error: REASON })}\n`,
    ),
  },
  { name: "UTF-16 with a mark", type: JSON_TYPE, bytes: Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]) },
  { name: "UTF-16 without one", type: JSON_TYPE, bytes: utf16 },
  {
    name: "UTF-16, the high byte first",
    type: JSON_TYPE,
    bytes: Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]),
  },
  { name: "zeros behind JSON", type: JSON_TYPE, bytes: Buffer.from(`${json}\0\0\0`) },
  { name: "a byte order mark", type: "text/plain", bytes: Buffer.from(`\uFEFF${REASON}`) },
  {
    name: "a text that begins with what was sent",
    type: "text/plain",
    bytes: Buffer.from('{"message":"x"} is not valid'),
    told: '{"message":"x"} is not valid',
  },
];
