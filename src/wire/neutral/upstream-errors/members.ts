/** Members by which servers say what failed. The test of `test/gateway/field` has bodies with them, and where they were seen. */

/** Members that hold the reason, the most telling first, and objects that hold such members. */
export const REASONS: readonly string[] = [
  "message",
  "msg",
  "detail",
  "error_message",
  "error_msg",
  "errorMessage",
  "errorMsg",
  "err_msg",
  "errMsg",
  "errmsg",
  "OriginalMessage",
  "ExceptionMessage",
  "Message",
  "Msg",
  "status_msg",
  "base_resp",
  "error_description",
  "faultstring",
  "fault",
  "description",
  "failure_reason",
  "reason",
  "title",
  "details",
  "non_field_errors",
  "__all__",
  // Envelopes.
  "err",
  "Error",
  "error_info",
  "ErrorMsg",
  "Response",
  "ResponseMetadata",
  "response",
  "status_details",
  "incomplete_details",
  "header",
  "result",
  "exception",
];
/** Members that name the kind of failure. */
export const TYPES: readonly string[] = ["type", "status", "error_type", "__type"];
export const CODES: readonly string[] = [
  "code",
  "error_code",
  "errorCode",
  "Code",
  "ErrorCode",
  "errcode",
  "status_code",
];
/** Members by which a fault of a list names its place in the request. */
export const PLACES: readonly string[] = ["loc", "field", "path", "param", "property", "instancePath"];

/** The first parts of a place in the request that no caller chooses: fields of the formats, and what FastAPI puts before them. */
export const KNOWN_PLACE =
  /^(?:[$/]|(?:body|query|header|messages|contents|input|instructions|system|tools|tool_choice|functions|response_format|text|reasoning|thinking|temperature|top_p|top_k|n|stop|seed|stream|stream_options|model|max_tokens|max_completion_tokens|max_output_tokens|logprobs|top_logprobs|metadata|generation_config|generationConfig)(?:$|[.:[]))/;
