/** Refusals of OpenAI, of Azure and of GitHub Models, whose codes and words many servers repeat. */
import { isOverLimit } from "../limits.ts";
import { answer, maximum, type Row, tokens } from "../row.ts";

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
    source: "chathub-dev/chathub#126",
    codes: ["context_length_exceeded"],
  },
  {
    id: "github.request_tokens",
    meaning: "context_overflow",
    source: "Aider-AI/aider#2296",
    words: `request body too large for \\S{1,100} model\\. max size: ${maximum} tokens`,
  },
  {
    id: "openai.maximum_context",
    meaning: "context_overflow",
    source: "sbintuitions/JMTEB#15",
    words: "this model['’]s maximum context length (?:is|has been exceeded)",
  },
  {
    id: "openai.context_window",
    meaning: "context_overflow",
    source: "anomalyco/opencode#6071",
    words: "(?:your )?input exceeds the context window",
  },
  {
    id: "openai.input_limit",
    meaning: "context_overflow",
    source: "bytedance/deer-flow#721",
    words: `input tokens exceed the configured limit of ${maximum} tokens(?:\\. your messages resulted in ${tokens} tokens)?`,
  },
  {
    id: "openai.string_length",
    meaning: "context_overflow",
    source: "VectorlyApp/bluebox#31",
    // A text of the conversation with a million characters and more; names, ids and the like have smaller bounds.
    words:
      "invalid '(?:messages|input|instructions)\\b[^']{0,100}': string too long\\. expected a string with maximum length \\d{6,9}",
  },
  {
    id: "openai.embedding_length",
    meaning: "context_overflow",
    source: "Fergana-Labs/stash#268",
    words: `invalid 'input(?:\\[\\d{1,6}\\])?': maximum (?:input length|request size) is ${maximum} tokens`,
  },
  {
    id: "openai.tokens_per_request",
    meaning: "context_overflow",
    source: "assafelovic/gpt-researcher#1524",
    codes: ["max_tokens_per_request"],
    words: `requested ${tokens} tokens, max ${maximum} tokens per request`,
  },
  {
    id: "openai.unknown_model",
    meaning: "unknown_model",
    source: "Aider-AI/aider#1903",
    // New API answers 503. The second is Copilot's code, the third Groq's.
    statuses: [400, 403, 404, 503],
    codes: ["model_not_found", "model_not_supported", "model_decommissioned"],
  },
  {
    id: "openai.unverified",
    meaning: "unknown_model",
    source: "continuedev/continue#9067",
    statuses: [400, 403, 404],
    // With the code `unsupported_value`: the account may not use the model, or this part of it.
    words: "your organization must be verified to (?:use|stream|generate) ",
  },
  {
    id: "openai.codex_account",
    meaning: "unknown_model",
    source: "openai/codex#26053, zed-industries/codex-acp#223",
    statuses: [400],
    words: "the '[^']{1,100}' model is not supported when using codex with a chatgpt account",
  },
  {
    id: "github.unknown_model",
    meaning: "unknown_model",
    source: "microsoft/Generative-AI-for-beginners-dotnet#302",
    statuses: [400, 404],
    codes: ["unknown_model"],
  },
  {
    id: "openai.unsupported_parameter",
    meaning: "unsupported_parameter",
    source: "ITSpecialist111/ai_automation_suggester#38",
    codes: ["unsupported_parameter", "unsupported_value", "unknown_parameter"],
  },
  {
    id: "openai.unsupported_words",
    meaning: "unsupported_parameter",
    source: "koosoli/ESPHomeDesigner#379",
    words: "(?:unsupported parameter: |unrecognized request argument supplied: |unknown parameter: )",
  },
  {
    id: "openai.max_value",
    meaning: "output_limit",
    source: "dotnet/extensions#6945",
    unread: true,
    words: `invalid '(?:max_tokens|max_completion_tokens|max_output_tokens)': integer above maximum value\\. expected a value <= ${maximum}, but got ${answer} instead`,
  },
  {
    id: "openai.invalid_value",
    meaning: "invalid_value",
    source: "dotnet/extensions#6945",
    codes: [
      "integer_above_max_value",
      "integer_below_min_value",
      "decimal_above_max_value",
      "decimal_below_min_value",
      "string_above_max_length",
      "array_above_max_length",
      "invalid_value",
      "invalid_type",
    ],
  },
  {
    id: "openai.encrypted_content",
    meaning: "invalid_value",
    source: "openai/codex#8145",
    codes: ["invalid_encrypted_content"],
  },
  {
    id: "openai.content_policy",
    meaning: "content_policy",
    source: "alan-turing-institute/t0-1#69",
    codes: ["content_policy_violation", "moderation_blocked", "invalid_prompt"],
  },
  {
    id: "azure.content_filter",
    meaning: "content_policy",
    source: "Gitlawb/openclaude#273",
    codes: ["content_filter"],
  },
  {
    id: "azure.content_words",
    meaning: "content_policy",
    source: "BerriAI/litellm#16231",
    // LiteLLM puts its own status in the place of the code.
    words:
      "the response was filtered due to the prompt triggering (?:azure openai|microsoft)['’]s content management policy",
  },
  {
    id: "azure.unknown_deployment",
    meaning: "unknown_model",
    source: "infiniflow/ragflow#2728",
    statuses: [404],
    codes: ["DeploymentNotFound"],
  },
  {
    id: "azure.unsupported_operation",
    meaning: "unknown_model",
    source: "langchain-ai/langmem#13",
    statuses: [400],
    codes: ["OperationNotSupported"],
  },
  {
    id: "openai.spend_limit",
    meaning: "quota",
    // Its type is that of the next.
    source:
      "https://dev.to/bwgit852_a0b6c1222ca6546/openai-429s-that-retries-wont-fix-creditbalanceexhausted-and-spend-limits-2jid",
    codes: [
      "credit_balance_exhausted",
      "organization_spend_limit_exceeded",
      "project_spend_limit_exceeded",
      "organization_usage_limit_exceeded",
    ],
  },
  {
    id: "openai.quota",
    meaning: "quota",
    source: "mattvr/ShellGPT#23",
    // The third is Moonshot's type.
    codes: ["insufficient_quota", "insufficient_balance", "exceeded_current_quota_error"],
  },
  {
    id: "openai.billing",
    meaning: "quota",
    source: "https://developers.openai.com/docs/guides/error-codes",
    unread: true,
    codes: ["billing_hard_limit_reached", "billing_not_active"],
  },
  {
    id: "openai.credential",
    meaning: "credential",
    source: "songquanpeng/one-api#271",
    statuses: [400, 401, 403],
    codes: ["invalid_api_key", "account_deactivated"],
  },
  {
    id: "openai.organization",
    meaning: "credential",
    source: "https://developers.openai.com/docs/guides/error-codes",
    unread: true,
    statuses: [400, 401, 403],
    codes: ["invalid_organization", "invalid_issuer", "ip_not_authorized"],
  },
  {
    id: "openai.region",
    meaning: "region",
    source: "home-assistant/core#120072",
    codes: ["unsupported_country_region_territory"],
  },
  {
    id: "openai.tier",
    meaning: "tier",
    source: "vanderschaarlab/climb#1",
    statuses: [413, 429],
    words: "request too large for",
  },
  {
    id: "openai.tier_numbers",
    meaning: "tier",
    source: "vanderschaarlab/climb#1",
    statuses: [413, 429],
    when: isOverLimit,
  },
  {
    id: "openai.overloaded",
    meaning: "overloaded",
    source: "mckaywrigley/repo-chat#13",
    statuses: [429, 500, 503],
    words:
      "(?:the (?:engine|server) is (?:currently )?overloaded|that model is currently overloaded|our servers are currently overloaded\\.)",
  },
  {
    id: "openai.overloaded_code",
    meaning: "overloaded",
    source: "anomalyco/opencode#25884",
    codes: ["server_is_overloaded"],
  },
  {
    id: "azure.high_demand",
    meaning: "overloaded",
    source: "pollinations/pollinations#6260",
    statuses: [429, 503],
    words: "the system is currently experiencing high demand and cannot process your request\\.",
  },
  {
    id: "openai.rate_limit",
    meaning: "rate_limit",
    // The last is the type of a Codex account's hours that are used up.
    source: "openai/codex#797, earendil-works/pi#4172",
    statuses: [429],
    codes: ["rate_limit_exceeded", "requests", "tokens", "usage_limit_reached"],
  },
  {
    id: "openai.slow_down",
    meaning: "rate_limit",
    source: "https://www.developersdigest.tech/errors/api/openai-api",
    statuses: [429, 503],
    codes: ["slow_down"],
  },
  {
    id: "azure.rate_limit",
    meaning: "rate_limit",
    source: "vanderschaarlab/climb#1",
    statuses: [429],
    words:
      "(?:your )?requests to [^\\n]{1,300} have exceeded (?:the )?(?:token|call|request) rate limit (?:of|for) your current ",
  },
  {
    id: "github.rate_limit",
    meaning: "rate_limit",
    source: "https://docs.github.com/en/github-models/use-github-models/prototyping-with-ai-models",
    unread: true,
    statuses: [429],
    codes: ["RateLimitReached"],
    // Also that of a day, `UserByModelByDay`: it is one model's, and the key serves others.
  },
];
