/** Refusals of Anthropic. */
import { answer, maximum, type Row, tokens } from "../row.ts";

const ERRORS_PAGE = "https://platform.claude.com/docs/en/api/errors";

export const ANTHROPIC_ROWS: readonly Row[] = [
  {
    id: "anthropic.prompt_too_long",
    meaning: "context_overflow",
    source: "boldsoftware/exe.dev#62",
    words: `prompt is too long(?:: ${tokens} tokens > ${maximum} maximum)?`,
  },
  {
    id: "anthropic.input_and_output",
    meaning: "context_overflow",
    source: "docker/docker-agent#569",
    words: `input length and \`?max_tokens\`? exceed context limit:\\s{1,8}${tokens} ?\\+\\s{0,8}${answer} > ${maximum}`,
  },
  {
    id: "anthropic.max_tokens",
    meaning: "output_limit",
    source: "anomalyco/opencode#2055",
    words: `max_tokens: ${answer} > ${maximum}, which is the maximum allowed number of output tokens`,
  },
  {
    id: "anthropic.funds",
    meaning: "quota",
    source: "anthropics/claude-code#66314",
    // The whole message, so that a model's or a parameter's name with words behind it is none.
    words:
      "your credit balance is too low to access the (?:anthropic|claude) api\\.?(?: please go to plans & billing to upgrade or purchase credits\\.?)?$",
  },
  {
    id: "anthropic.usage_limit",
    meaning: "quota",
    source: "anthropics/claude-code#38035",
    words:
      "you have reached your specified (?:workspace )?api usage limits\\.(?: you will regain access on [\\d-]{10} at [\\d:]{5} utc\\.?)?$",
  },
  {
    id: "anthropic.spend_cap",
    meaning: "quota",
    source: "https://platform.claude.com/docs/en/api/rate-limits",
    unread: true,
    // A `rate_limit_error` without an end.
    words:
      "you have reached your api usage limits: your organization has crossed its monthly api usage threshold\\.?$",
  },
  {
    id: "anthropic.disabled",
    meaning: "credential",
    source: "anthropics/claude-code#72457",
    words: "this organization has been disabled\\.?$",
  },
  { id: "anthropic.billing", meaning: "quota", source: ERRORS_PAGE, codes: ["billing_error"] },
  {
    id: "anthropic.long_context",
    meaning: "tier",
    source: "anthropics/claude-code#64982",
    statuses: [400, 403, 429],
    words:
      "(?:(?:extra usage is|usage credits are) required for long context|the long context beta is not yet available)",
  },
  {
    id: "anthropic.content_policy",
    meaning: "content_policy",
    source: "anthropics/claude-code#13986",
    words: "output blocked by content filtering policy",
  },
  {
    id: "anthropic.unknown_model",
    meaning: "unknown_model",
    source: "anthropics/claude-code#5349",
    statuses: [404],
    codes: ["not_found_error"],
    words: "(?:model: |claude [\\w .-]{1,60} is not available\\.)",
  },
  {
    id: "anthropic.unsupported",
    meaning: "unsupported_parameter",
    source: "anthropics/claude-code#14135",
    statuses: [400, 422],
    words: "[\\w.\\[\\]-]{1,100}: extra inputs are not permitted",
  },
  {
    id: "anthropic.deprecated",
    meaning: "unsupported_parameter",
    source: "vogler75/monster-mq#168",
    statuses: [400],
    words: "`?[\\w.]{1,60}`? is deprecated for this model",
  },
  {
    id: "anthropic.both",
    meaning: "unsupported_parameter",
    source: "https://platform.claude.com/docs/en/api/messages",
    unread: true,
    statuses: [400],
    words: "[`']?temperature[`']? and [`']?top_p[`']? cannot both be specified for this model",
  },
  {
    id: "anthropic.thinking",
    meaning: "invalid_value",
    source: "anthropics/claude-code#8756",
    statuses: [400],
    words:
      "(?:`?max_tokens`? must be greater than `?thinking\\.budget_tokens`?|thinking\\.[\\w.]{1,60}: input should be )",
  },
  {
    id: "anthropic.credential",
    meaning: "credential",
    source: ERRORS_PAGE,
    codes: ["authentication_error"],
  },
  {
    id: "anthropic.permission",
    meaning: "credential",
    source: "can1357/oh-my-pi#38",
    statuses: [403],
    codes: ["permission_error"],
  },
  {
    id: "anthropic.overloaded",
    meaning: "overloaded",
    source: "anthropics/anthropic-sdk-typescript#616",
    codes: ["overloaded_error"],
  },
  {
    id: "anthropic.rate_limit",
    meaning: "rate_limit",
    source: "anthropics/claude-code#71670",
    codes: ["rate_limit_error"],
  },
];
