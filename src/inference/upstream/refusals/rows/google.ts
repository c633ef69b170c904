/** Refusals of Gemini and of Vertex. */
import { answer, maximum, N, type Row, tokens } from "../row.ts";

const TROUBLES_PAGE = "https://ai.google.dev/gemini-api/docs/troubleshooting";

export const GOOGLE_ROWS: readonly Row[] = [
  {
    id: "gemini.input_tokens",
    meaning: "context_overflow",
    source: "google-gemini/gemini-cli#12214",
    words: `the input token count (?:\\(${tokens}\\) )?exceeds the maximum number of tokens allowed(?: \\(?${maximum}\\)?)?`,
  },
  {
    id: "vertex.input_tokens",
    meaning: "context_overflow",
    source: "NousResearch/hermes-agent#99701",
    words: `(?:unable to submit request because )?the input token count is ${tokens} but (?:the )?model (?:only )?supports up to ${maximum}`,
  },
  {
    id: "vertex.max_output",
    meaning: "output_limit",
    source: "BerriAI/litellm#10548",
    words: `(?:unable to submit request because )?it has a maxoutputtokens value of ${answer} but the supported range is from ${N} \\(inclusive\\) to (?<beyond>${N}) \\(exclusive\\)`,
  },
  {
    id: "gemini.unknown_model",
    meaning: "unknown_model",
    source: TROUBLES_PAGE,
    statuses: [400, 404],
    words:
      "(?:models/\\S{1,100} is not found|publisher model \\S{1,200} (?:was )?not found|\\* generatecontentrequest\\.model: unexpected model name)",
  },
  {
    id: "gemini.unknown_field",
    meaning: "unsupported_parameter",
    source: TROUBLES_PAGE,
    words: '(?:invalid json payload received\\. )?unknown name "',
  },
  {
    id: "gemini.credential",
    meaning: "credential",
    source: "https://cloud.google.com/apis/design/errors#error_payloads",
    codes: ["API_KEY_INVALID", "API_KEY_EXPIRED", "UNAUTHENTICATED"],
  },
  {
    id: "gemini.rate_limit",
    meaning: "rate_limit",
    source: TROUBLES_PAGE,
    codes: ["RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"],
  },
  { id: "gemini.overloaded", meaning: "overloaded", source: TROUBLES_PAGE, codes: ["UNAVAILABLE"] },
];
