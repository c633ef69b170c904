/** Refusals of OpenAI and of Azure, whose codes and words many servers repeat. */
import { isOverLimit } from "../limits.ts";
import { answer, maximum, type Row, tokens } from "../row.ts";

const CODES_PAGE = "https://platform.openai.com/docs/guides/error-codes";

export const OPENAI_ROWS: readonly Row[] = [
  {
    id: "openai.max_tokens",
    meaning: "output_limit",
    source: "ChatGPTNextWeb/NextChat#3195",
    words: `(?:max_tokens|max_completion_tokens|max_output_tokens) is too large: ${answer}\\. this model supports at most ${maximum} (?:completion|output) tokens`,
  },
  {
    id: "openai.context_length",
    meaning: "context_overflow",
    source: CODES_PAGE,
    codes: ["context_length_exceeded"],
  },
  {
    id: "openai.maximum_context",
    meaning: "context_overflow",
    source: "ChatGPTNextWeb/NextChat#625",
    words: "this model['’]s maximum context length (?:is|has been exceeded)",
  },
  {
    id: "openai.context_window",
    meaning: "context_overflow",
    source: "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
    words: "(?:your )?input exceeds the context window",
  },
  {
    id: "openai.input_limit",
    meaning: "context_overflow",
    source: "cline/cline#5474",
    words: `input tokens exceed the configured limit of ${maximum} tokens(?:\\. your messages resulted in ${tokens} tokens)?`,
  },
  {
    id: "openai.string_length",
    meaning: "context_overflow",
    source: "https://platform.openai.com/docs/guides/error-codes",
    // A text of the conversation with a million characters and more; names, ids and the like have smaller bounds.
    words:
      "invalid '(?:messages|input|instructions)\\b[^']{0,100}': string too long\\. expected a string with maximum length \\d{6,9}",
  },
  {
    id: "openai.embedding_length",
    meaning: "context_overflow",
    source: "HKUDS/DeepTutor#521",
    words: `invalid 'input(?:\\[\\d{1,6}\\])?': maximum (?:input length|request size) is ${maximum} tokens`,
  },
  {
    id: "openai.tokens_per_request",
    meaning: "context_overflow",
    source: "ridgesai/ridges-old#75",
    codes: ["max_tokens_per_request"],
    words: `requested ${tokens} tokens, max ${maximum} tokens per request`,
  },
  {
    id: "openai.unknown_model",
    meaning: "unknown_model",
    source: CODES_PAGE,
    statuses: [400, 403, 404],
    codes: ["model_not_found", "model_not_supported", "model_decommissioned"],
  },
  {
    id: "openai.unsupported_parameter",
    meaning: "unsupported_parameter",
    source: "koosoli/ESPHomeDesigner#379",
    codes: ["unsupported_parameter", "unsupported_value", "unknown_parameter"],
  },
  {
    id: "openai.unsupported_words",
    meaning: "unsupported_parameter",
    source: "koosoli/ESPHomeDesigner#379",
    words: "(?:unsupported parameter: |unrecognized request argument supplied: |unknown parameter: )",
  },
  {
    id: "openai.content_policy",
    meaning: "content_policy",
    source: CODES_PAGE,
    codes: ["content_policy_violation", "moderation_blocked", "invalid_prompt"],
  },
  {
    id: "azure.content_filter",
    meaning: "content_policy",
    source: "compl-ai/compl-ai#20",
    codes: ["content_filter"],
  },
  {
    id: "azure.unknown_deployment",
    meaning: "unknown_model",
    source: "https://learn.microsoft.com/azure/ai-services/openai/how-to/create-resource",
    statuses: [404],
    codes: ["DeploymentNotFound"],
  },
  {
    id: "openai.quota",
    meaning: "quota",
    source: CODES_PAGE,
    codes: [
      "insufficient_quota",
      "billing_hard_limit_reached",
      "billing_not_active",
      "insufficient_balance",
      "exceeded_current_quota_error",
    ],
  },
  {
    id: "openai.credential",
    meaning: "credential",
    source: CODES_PAGE,
    statuses: [400, 401, 403],
    codes: ["invalid_api_key", "account_deactivated", "invalid_organization", "invalid_issuer"],
  },
  {
    id: "openai.tier",
    meaning: "tier",
    source: "DrShushen/climb#13",
    statuses: [413, 429],
    words: "request too large for",
  },
  {
    id: "openai.tier_numbers",
    meaning: "tier",
    source: "DrShushen/climb#13",
    statuses: [413, 429],
    when: isOverLimit,
  },
  {
    id: "openai.overloaded",
    meaning: "overloaded",
    source: CODES_PAGE,
    statuses: [429, 503],
    words:
      "(?:the (?:engine|server) is (?:currently )?overloaded|that model is currently overloaded|slow down)",
  },
  {
    id: "openai.rate_limit",
    meaning: "rate_limit",
    source: CODES_PAGE,
    statuses: [429],
    codes: ["rate_limit_exceeded", "requests", "tokens"],
  },
];
