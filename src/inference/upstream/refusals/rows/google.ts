/** Refusals of Gemini and of Vertex. */
import { answer, maximum, N, type Row, tokens } from "../row.ts";

export const GOOGLE_ROWS: readonly Row[] = [
  {
    id: "gemini.input_tokens",
    meaning: "context_overflow",
    source: "google-gemini/gemini-cli#6678",
    words: `the input token count (?:\\(${tokens}\\) )?exceeds the maximum number of tokens allowed(?: \\(?${maximum}\\)?)?`,
  },
  {
    id: "vertex.input_tokens",
    meaning: "context_overflow",
    source: "google-gemini/gemini-cli#19727",
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
    source: "google/adk-python#200",
    statuses: [400, 404],
    words:
      "(?:models/\\S{1,100} is not found|publisher model \\S{1,200} (?:was |is )?not found|\\* generatecontentrequest\\.model: unexpected model name)",
  },
  {
    id: "gemini.unknown_field",
    meaning: "unsupported_parameter",
    source: "glowingjade/obsidian-smart-composer#455",
    words: '(?:invalid json payload received\\. )?unknown name "',
  },
  {
    id: "gemini.no_free_tier",
    meaning: "unknown_model",
    source: "continuedev/continue#9570",
    statuses: [429],
    // Nothing of the model is free: waiting does not help, other models are served.
    words: "\\* quota exceeded for metric: \\S{1,200}_free_tier_\\S{1,100}, limit: 0, model: ",
  },
  {
    id: "vertex.thinking",
    meaning: "unsupported_parameter",
    source: "google-gemini/gemini-cli#14025",
    statuses: [400],
    words:
      "(?:unable to submit request because )?(?:thinking[\\w.]{0,60} is (?:not supported by this model|only enabled when)|thinking can['’]t be disabled for this model)",
  },
  {
    id: "gemini.thinking_budget",
    meaning: "invalid_value",
    source: "lbjlaq/Antigravity-Manager#1384",
    statuses: [400],
    words:
      "(?:unable to submit request because )?(?:thinking_budget is out of range|the thinking budget \\(-?\\d{1,9}\\) is invalid)",
  },
  {
    id: "gemini.region",
    meaning: "region",
    source: "poenl/gemini-api#4",
    statuses: [400, 403],
    words: "user location is not supported for the api use\\.?$",
  },
  {
    id: "gemini.credential",
    meaning: "credential",
    source: "vueschool/vue-masterclass#10",
    codes: ["API_KEY_INVALID", "API_KEY_EXPIRED", "UNAUTHENTICATED"],
  },
  {
    id: "gemini.project",
    meaning: "credential",
    source: "google/generative-ai-docs#356",
    codes: ["CONSUMER_SUSPENDED", "CONSUMER_INVALID", "SERVICE_DISABLED", "API_KEY_SERVICE_BLOCKED"],
  },
  {
    id: "gemini.prepaid",
    meaning: "quota",
    source: "dyad-sh/dyad#3626",
    // With the code of a rate limit.
    statuses: [402, 429],
    words: "your prepayment credits are depleted\\.",
  },
  {
    id: "gemini.rate_limit",
    meaning: "rate_limit",
    source: "google-gemini/gemini-cli#8437",
    // Also that of a day (`GenerateRequestsPerDayPerProjectPerModel`): it is one model's, and the key serves others.
    codes: ["RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"],
  },
  {
    id: "gemini.overloaded",
    meaning: "overloaded",
    source: "google-gemini/gemini-cli#5191",
    codes: ["UNAVAILABLE"],
  },
];
