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
    source: "anthropics/claude-code#24451",
    words: `max_tokens: ${answer} > ${maximum}, which is the maximum allowed number of output tokens`,
  },
  {
    id: "anthropic.funds",
    meaning: "quota",
    source: ERRORS_PAGE,
    // The whole message, so that a model's or a parameter's name with words behind it is none.
    words:
      "your credit balance is too low to access the (?:anthropic|claude) api\\.?(?: please go to plans & billing to upgrade or purchase credits\\.?)?$",
  },
  { id: "anthropic.billing", meaning: "quota", source: ERRORS_PAGE, codes: ["billing_error"] },
  {
    id: "anthropic.long_context",
    meaning: "tier",
    source: "anthropics/claude-code#53607",
    statuses: [400, 403, 429],
    words: "(?:extra usage is required for long context|the long context beta is not yet available)",
  },
  {
    id: "anthropic.content_policy",
    meaning: "content_policy",
    source: "anthropics/claude-code#58367",
    words: "output blocked by content filtering policy",
  },
  {
    id: "anthropic.unknown_model",
    meaning: "unknown_model",
    source: ERRORS_PAGE,
    statuses: [404],
    codes: ["not_found_error"],
    words: "model: ",
  },
  {
    id: "anthropic.unsupported",
    meaning: "unsupported_parameter",
    source: "anthropics/claude-code#14135",
    statuses: [400],
    words: "[\\w.\\[\\]-]{1,100}: extra inputs are not permitted",
  },
  {
    id: "anthropic.credential",
    meaning: "credential",
    source: ERRORS_PAGE,
    codes: ["authentication_error"],
  },
  {
    id: "anthropic.overloaded",
    meaning: "overloaded",
    source: ERRORS_PAGE,
    codes: ["overloaded_error"],
  },
  {
    id: "anthropic.rate_limit",
    meaning: "rate_limit",
    source: ERRORS_PAGE,
    codes: ["rate_limit_error"],
  },
];
