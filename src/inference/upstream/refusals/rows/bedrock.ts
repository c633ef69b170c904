/** Refusals of Bedrock, whose kind is in a header, and whose words are often those of a model's maker. */
import { answer, maximum, type Row, tokens } from "../row.ts";

const ERRORS_PAGE =
  "https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html";

export const BEDROCK_ROWS: readonly Row[] = [
  {
    id: "bedrock.input_too_long",
    meaning: "context_overflow",
    source: "aws/aws-sdk-js-v3#6266",
    words: "input is too long for requested model",
  },
  {
    id: "bedrock.too_many_input_tokens",
    meaning: "context_overflow",
    source: "aws-samples/amazon-bedrock-workshop#136",
    words: `(?:\\d{3} bad request: )?too many input tokens\\. max input tokens: ${maximum}, request input token count: ${tokens}`,
  },
  {
    id: "bedrock.prompt_length",
    meaning: "context_overflow",
    source: "ScrapeGraphAI/Scrapegraph-ai#400",
    // Counted in characters: of a prompt, or of a text to be embedded. Smaller bounds are those of single fields.
    words:
      "(?:malformed input request: )?(?:#[\\w/~-]{0,100}: )?expected maxlength: \\d{4,9}, actual: \\d{4,9}",
  },
  {
    id: "bedrock.max_tokens",
    meaning: "output_limit",
    source: "RooCodeInc/Roo-Code#248",
    words: `the maximum tokens you requested exceeds? the model limit of ${maximum}`,
  },
  {
    id: "bedrock.schema_limit",
    meaning: "output_limit",
    source:
      "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html",
    unread: true,
    words: `(?:malformed input request: )?#/(?:[\\w/]{0,60}/)?max_?(?:tokens|gen_len|new_tokens|tokens_to_sample|tokencount): ${answer} is not less or equal to ${maximum}`,
  },
  {
    id: "bedrock.extraneous_key",
    meaning: "unsupported_parameter",
    source: "pingcap/autoflow#574",
    statuses: [400],
    words: "#[\\w/~-]{0,100}: extraneous key \\[[\\w.-]{1,100}\\] is not permitted",
  },
  {
    id: "bedrock.unknown_model",
    meaning: "unknown_model",
    source: "anthropics/claude-code#1466",
    statuses: [400, 403, 404],
    words:
      "(?:the provided model identifier is invalid|could not resolve the foundation model|you don't have access to the model with the specified model id|invocation of model id \\S{1,200} with on-demand throughput isn['’]t supported|this model version has reached the end of its life)",
  },
  {
    id: "bedrock.marketplace",
    meaning: "unknown_model",
    source: "aws-samples/anthropic-on-aws#251",
    statuses: [400, 403, 404],
    // Before the credential: an `AccessDeniedException`, too.
    words:
      "(?:model access is denied due to |model use case details have not been submitted for this account)",
  },
  {
    id: "bedrock.credential",
    meaning: "credential",
    source: ERRORS_PAGE,
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
    source: "aws-samples/amazon-bedrock-client-for-mac#99",
    // Also "Too many tokens per day": that quota is one model's, and the key serves others.
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
    source: "darko-mesaros/bedrust#47",
    codes: [
      "ServiceUnavailableException",
      "serviceUnavailableException",
      "ServiceUnavailable",
      "ModelNotReadyException",
    ],
  },
];
