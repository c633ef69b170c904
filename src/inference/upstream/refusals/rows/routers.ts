/** Refusals of those that pass calls on to other providers: OpenRouter, GitHub Copilot, LiteLLM. */
import { maximum, N, type Row, tokens } from "../row.ts";

const OPENROUTER_PAGE = "https://openrouter.ai/docs/api-reference/errors";

export const ROUTER_ROWS: readonly Row[] = [
  {
    id: "copilot.prompt_tokens",
    meaning: "context_overflow",
    source: "microsoft/copilot-intellij-feedback#94",
    codes: ["model_max_prompt_tokens_exceeded"],
  },
  {
    id: "copilot.prompt_words",
    meaning: "context_overflow",
    source: "jjleng/copilot-more#35",
    words: `prompt token count of ${tokens} exceeds the limit of ${maximum}`,
  },
  {
    id: "copilot.unknown_model",
    meaning: "unknown_model",
    source: "microsoft/vscode-copilot-release#10115",
    statuses: [400, 403, 404],
    words: "the requested model is not supported",
  },
  {
    id: "openrouter.endpoint_context",
    meaning: "context_overflow",
    source: "refly-ai/refly#1177",
    words: `this endpoint['’]s maximum context length is ${maximum}`,
  },
  {
    id: "openrouter.input_length",
    meaning: "context_overflow",
    source: "earendil-works/pi#4943",
    words: `input length ${tokens} exceeds the maximum allowed input length of ${maximum}`,
  },
  {
    id: "openrouter.token_limit",
    meaning: "context_overflow",
    source: OPENROUTER_PAGE,
    codes: ["token_limit_exceeded"],
  },
  {
    id: "openrouter.max_tokens",
    meaning: "output_limit",
    source: OPENROUTER_PAGE,
    codes: ["max_tokens_exceeded"],
  },
  {
    id: "openrouter.no_support",
    meaning: "unsupported_parameter",
    source: "anomalyco/opencode#1675",
    statuses: [404],
    words: "no endpoints found that (?:support|can handle)",
  },
  {
    id: "openrouter.unknown_model",
    meaning: "unknown_model",
    source: "vyancharuk/nodejs-api-boilerplate#16",
    statuses: [400, 404],
    words:
      "(?:no endpoints found for |no allowed providers are available|\\S{1,100} is not a valid model id)",
  },
  {
    id: "openrouter.moderation",
    meaning: "content_policy",
    source: OPENROUTER_PAGE,
    statuses: [403],
    words: "\\S{1,100} requires moderation on ",
  },
  {
    id: "openrouter.credits",
    meaning: "quota",
    source: "babikov/doka-site#7",
    statuses: [402],
    words: "(?:insufficient credits|this request requires more credits|prompt tokens limit exceeded)",
  },
  {
    id: "openrouter.overloaded",
    meaning: "overloaded",
    source: OPENROUTER_PAGE,
    codes: ["provider_overloaded"],
  },
  {
    id: "litellm.context_window",
    meaning: "context_overflow",
    source: "https://docs.litellm.ai/docs/exception_mapping",
    words: "litellm\\.contextwindowexceedederror",
  },
  {
    id: "proxy.maximum_context",
    meaning: "context_overflow",
    source: "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
    words: `(?:the |your )?(?:input|prompt|request)(?: length| tokens?)?(?: \\(?${tokens}\\)?)?(?: tokens)? (?:exceeds?|is longer than) (?:the )?(?:model's )?maximum context length(?: of ${maximum}| \\(${N}\\))?`,
  },
];
