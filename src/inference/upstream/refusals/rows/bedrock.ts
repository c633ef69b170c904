/** Refusals of Bedrock, whose kind is in a header, and whose words are often those of a model's maker. */
import { maximum, type Row, tokens } from "../row.ts";

const ERRORS_PAGE =
  "https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html";

export const BEDROCK_ROWS: readonly Row[] = [
  {
    id: "bedrock.input_too_long",
    meaning: "context_overflow",
    source: "aws-samples/bedrock-chat#95",
    words: "input is too long for requested model",
  },
  {
    id: "bedrock.too_many_input_tokens",
    meaning: "context_overflow",
    source:
      "https://github.com/pkdone/paul-genai-test-tools-ts/blob/main/src/llm/providers/bedrock/bedrock-error-patterns.ts",
    words: `(?:\\d{3} bad request: )?too many input tokens\\. max input tokens: ${maximum}, request input token count: ${tokens}`,
  },
  {
    id: "bedrock.prompt_length",
    meaning: "context_overflow",
    source: "ryanadoty/Amazon-Bedrock-Amazon-RDS-POC#9",
    // Counted in characters; smaller bounds are those of single fields.
    words: "(?:malformed input request: )?expected maxlength: \\d{5,9}, actual: \\d{5,9}",
  },
  {
    id: "bedrock.max_tokens",
    meaning: "output_limit",
    source: "vercel/ai#2772",
    words: `the maximum tokens you requested exceeds? the model limit of ${maximum}`,
  },
  {
    id: "bedrock.unknown_model",
    meaning: "unknown_model",
    source: ERRORS_PAGE,
    statuses: [400, 403, 404],
    words:
      "(?:the provided model identifier is invalid|could not resolve the foundation model|you don't have access to the model with the specified model id|invocation of model id \\S{1,200} with on-demand throughput isn['’]t supported|this model version has reached the end of its life)",
  },
  {
    id: "bedrock.credential",
    meaning: "credential",
    source: "https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html",
    codes: [
      "UnrecognizedClientException",
      "InvalidSignatureException",
      "IncompleteSignature",
      "ExpiredTokenException",
      "ExpiredToken",
      "InvalidClientTokenId",
      "MissingAuthenticationTokenException",
      "NotAuthorized",
      "AccessDeniedException",
    ],
  },
  {
    id: "bedrock.throttled",
    meaning: "rate_limit",
    source: ERRORS_PAGE,
    codes: [
      "ThrottlingException",
      "throttlingException",
      "TooManyRequestsException",
      "ServiceQuotaExceededException",
    ],
  },
  {
    id: "bedrock.unavailable",
    meaning: "overloaded",
    source: ERRORS_PAGE,
    codes: [
      "ServiceUnavailableException",
      "serviceUnavailableException",
      "ServiceUnavailable",
      "ModelNotReadyException",
    ],
  },
];
