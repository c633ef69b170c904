/** Refusals of those that pass calls on to other providers: OpenRouter, GitHub Copilot, LiteLLM, One API and New API. */
import { maximum, N, type Row, tokens } from "../row.ts";

/** This page lists all codes of OpenRouter with their meanings. */
const OPENROUTER_CODES =
  "https://www.developersdigest.tech/errors/api/openrouter/403-content-policy-violation";

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
    source: "microsoft/vscode-copilot-release#10115, anomalyco/opencode#34048",
    statuses: [400, 403, 404],
    words:
      "(?:the requested model is not (?:supported|available for integrator)|model is not supported for this request)",
  },
  {
    id: "copilot.unsupported_api",
    meaning: "unknown_model",
    source: "router-for-me/CLIProxyAPIPlus#41, microsoft/github-copilot-appmod#8",
    statuses: [400],
    // Another provider may serve the model in this format, or without the account's plan.
    codes: ["unsupported_api_for_model", "no_available_model_endpoints"],
  },
  {
    id: "copilot.quota",
    meaning: "quota",
    source: "github/copilot-cli#3431",
    statuses: [402, 429],
    codes: ["quota_exceeded"],
    words: "you have (?:no quota|exceeded your )",
  },
  {
    id: "openrouter.endpoint_context",
    meaning: "context_overflow",
    source: "OpenHands/OpenHands#9937",
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
    source: OPENROUTER_CODES,
    codes: ["token_limit_exceeded"],
  },
  {
    id: "openrouter.max_tokens",
    meaning: "output_limit",
    source: OPENROUTER_CODES,
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
    source: "cline/cline#569",
    statuses: [403],
    words: "\\S{1,100} requires moderation on ",
  },
  {
    id: "openrouter.affordable",
    meaning: "tier",
    source: "Gitlawb/openclaude#1125",
    statuses: [402],
    // The account serves smaller requests, and others serve this one. An account that affords 0 tokens is out of funds.
    words: `(?:this request requires more credits, or fewer max_tokens\\. you requested up to ${N} tokens, but can only afford [1-9]|prompt tokens limit exceeded: ${N} > [1-9])`,
  },
  {
    id: "openrouter.credits",
    meaning: "quota",
    source: "Gitlawb/openclaude#43",
    statuses: [402],
    words:
      "(?:insufficient credits\\. (?:add more using |this account never purchased credits\\. )|this request requires more credits, or fewer max_tokens\\. you requested up to |prompt tokens limit exceeded: )",
  },
  {
    id: "openrouter.key_limit",
    meaning: "quota",
    source: "gptme/gptme#1449",
    statuses: [403],
    words:
      "key limit exceeded(?: \\((?:total|daily|weekly|monthly) limit\\))?\\. manage it using https://openrouter\\.ai/",
  },
  {
    id: "openrouter.credential",
    meaning: "credential",
    source: "musistudio/claude-code-router#227",
    statuses: [401],
    words: "(?:no (?:cookie )?auth credentials found|user not found)\\.?$",
  },
  {
    id: "openrouter.data_policy",
    meaning: "unknown_model",
    source: "unoplat/unoplat-code-confluence#1080",
    statuses: [404],
    words: "no endpoints (?:found|available) matching your (?:data policy|guardrail restrictions)",
  },
  {
    id: "openrouter.free_models",
    meaning: "rate_limit",
    source: "Gitlawb/openclaude#936",
    // The key's other models are served.
    statuses: [429],
    words: "rate limit exceeded: free-models-per-",
  },
  {
    id: "openrouter.upstream_limit",
    meaning: "rate_limit",
    source: "open-webui/computer#293",
    statuses: [429],
    words: "\\S{1,100} is temporarily rate-limited upstream",
  },
  {
    id: "openrouter.overloaded",
    meaning: "overloaded",
    source: "https://www.developersdigest.tech/errors/api/openrouter/503-provider-overloaded",
    codes: ["provider_overloaded"],
  },
  {
    id: "litellm.context_window",
    meaning: "context_overflow",
    source: "https://docs.litellm.ai/docs/exception_mapping",
    words: "litellm\\.contextwindowexceedederror",
  },
  {
    id: "litellm.unknown_model",
    meaning: "unknown_model",
    source:
      "https://github.com/BerriAI/litellm/blob/main/litellm/proxy/route_llm_request.py, BerriAI/litellm#3142, continuedev/continue#10976",
    statuses: [400],
    words:
      "(?:(?:/[\\w/{}]{1,60}: )?invalid model name passed in model=|you passed in model=\\S{1,200}\\. there are no healthy deployments for this model)",
  },
  {
    id: "litellm.unsupported",
    meaning: "unsupported_parameter",
    source: "BerriAI/litellm#13515",
    statuses: [400],
    words: "[\\w./-]{1,60} does not support parameters: \\[",
  },
  {
    id: "litellm.no_access",
    meaning: "unknown_model",
    source:
      "winfunc/opcode#358, BerriAI/litellm#39660, https://github.com/BerriAI/litellm/blob/main/litellm/proxy/_types.py",
    statuses: [401, 403],
    // The key is good for its other models.
    codes: [
      "key_model_access_denied",
      "team_model_access_denied",
      "user_model_access_denied",
      "org_model_access_denied",
    ],
  },
  {
    id: "litellm.expired_key",
    meaning: "credential",
    source: "BerriAI/litellm#18731",
    statuses: [400, 401],
    codes: ["expired_key"],
    words: "authentication error - expired key\\. key expiry time ",
  },
  {
    id: "litellm.budget",
    meaning: "quota",
    source: "BerriAI/litellm#37000",
    statuses: [400, 401, 429],
    codes: ["budget_exceeded"],
  },
  {
    id: "litellm.budget_words",
    meaning: "quota",
    source: "BerriAI/litellm#14144",
    statuses: [429],
    words: "budget has been exceeded! (?:current cost: [\\d.e+-]{1,30}, max budget: |team=)",
  },
  {
    id: "litellm.no_deployment",
    meaning: "overloaded",
    source: "BerriAI/litellm#20867",
    statuses: [429],
    words: "no deployments available(?: for selected model| - crossed budget)",
  },
  {
    id: "vercel.credits",
    meaning: "quota",
    source: "arlanrakh/talk-to-girlfriend-ai#6, Aider-AI/aider#4495",
    statuses: [402, 403, 429, 500],
    words:
      "(?:ai gateway requires a valid credit card on file to service requests\\.|free credits temporarily have restricted access due to abuse\\.)",
  },
  {
    id: "newapi.quota",
    meaning: "quota",
    source:
      "songquanpeng/one-api#1270, https://github.com/songquanpeng/one-api/blob/main/relay/controller/helper.go",
    statuses: [403],
    codes: ["insufficient_user_quota", "pre_consume_token_quota_failed"],
  },
  {
    id: "newapi.quota_words",
    meaning: "quota",
    source: "QuantumNous/new-api#6929",
    statuses: [403],
    words: "(?:用户额度不足[,，] ?剩余额度|user quota is not enough(?: \\(request id: \\w{1,64}\\))?$)",
  },
  {
    id: "newapi.credential",
    meaning: "credential",
    source: "QuantumNous/new-api#3302",
    statuses: [401],
    words: "该令牌状态不可用",
  },
  {
    id: "newapi.no_channel",
    meaning: "unknown_model",
    source: "songquanpeng/one-api#2340",
    statuses: [404, 503],
    words: "(?:当前)?分组 ?\\S{1,60} ?下(?:对于)?模型 {0,2}\\S{0,100} {0,2}无可用渠道",
  },
  {
    id: "newapi.saturated",
    meaning: "rate_limit",
    source: "666ghj/BettaFish#535, QuantumNous/new-api#991, songquanpeng/one-api#330",
    statuses: [429],
    words: "当前分组(?:上游)?负载已饱和",
  },
  {
    id: "proxy.maximum_context",
    meaning: "context_overflow",
    source: "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
    words: `(?:the |your )?(?:input|prompt|request)(?: length| tokens?)?(?: \\(?${tokens}\\)?)?(?: tokens)? (?:exceeds?|is longer than) (?:the )?(?:model's )?maximum context length(?: of ${maximum}| \\(${N}\\))?`,
  },
];
