/** Rows of the chat and responses dialects, with those of providers that extend them. */
import { type DialectRows, FREE, type MemberRow, ROUTED } from "./rows.ts";

const OPENAI = "https://developers.openai.com/api";
const OPENROUTER = "https://openrouter.ai/docs";
const GOOGLE_EXTRAS = "https://ai.google.dev/gemini-api/docs/openai";
const XAI = "https://docs.x.ai/docs/guides/live-search";

/**
 * `auto` is the tier that the account's project has by default, as absence is. `fast` is another word for priority. `on_demand` is
 * Groq's word for the standard tier.
 */
export const SERVICE_TIER: MemberRow = {
  is: "tier",
  aspect: "tier",
  words: {
    auto: "",
    default: "",
    standard: "",
    on_demand: "",
    flex: "flex",
    priority: "priority",
    fast: "priority",
    scale: "scale",
    ultrafast: "ultrafast",
    performance: "performance",
  },
};

const SEARCH: MemberRow = { is: "tool", name: "web_search", isRead: true, assumed: 1 };

/** Other plugins have other prices: https://openrouter.ai/docs/features/multimodal/pdfs */
const PLUGINS: MemberRow = { ...SEARCH, ids: ["web"] };

export const CHAT_ROWS: DialectRows = {
  members: [
    { of: "service_tier", row: SERVICE_TIER, source: `${OPENAI}/docs/guides/priority-processing` },
    { of: "tools", row: { is: "tools" }, source: `${OPENAI}/reference/resources/chat` },
    {
      of: "web_search_options",
      row: { is: "tool", name: "web_search_options", isRead: true, assumed: 1, always: true },
      source: `${OPENAI}/docs/guides/tools-web-search?api-mode=chat`,
    },
    { of: "plugins", row: PLUGINS, source: `${OPENROUTER}/features/web-search` },
    { of: "search_parameters", row: { ...SEARCH, name: "live_search" }, source: XAI },
    {
      of: "enable_search",
      row: SEARCH,
      source: "https://help.aliyun.com/zh/model-studio/web-search",
    },
    { of: "web_search", row: SEARCH, source: "https://help.aliyun.com/zh/model-studio/web-search" },
    {
      of: "mcp_servers",
      row: { is: "tool", name: "mcp", isRead: true, assumed: 0 },
      source: "https://docs.x.ai/docs/guides/tools/remote-mcp-tools",
    },
    {
      of: "modalities",
      row: { is: "words", free: ["text"] },
      source: `${OPENAI}/docs/guides/audio`,
    },
    { of: "audio", row: { is: "unpriced" }, source: `${OPENAI}/docs/guides/audio` },
    { of: "provider", row: ROUTED, source: `${OPENROUTER}/features/provider-routing` },
    { of: "preset", row: { is: "unpriced" }, source: `${OPENROUTER}/features/presets` },
    { of: "models", row: { is: "unpriced" }, source: `${OPENROUTER}/features/model-routing` },
    // The answer comes later, to the account that asked: no call could be charged for it.
    {
      of: "deferred",
      row: { is: "unpriced" },
      source: "https://docs.x.ai/docs/guides/deferred-chat-completions",
    },
    { of: "extra_body", row: { is: "body" }, source: GOOGLE_EXTRAS },
    { of: "google", row: { is: "body" }, source: GOOGLE_EXTRAS },
    {
      of: "speed",
      row: { is: "tier", aspect: "speed", words: { standard: "", fast: "fast" } },
      source: `${OPENROUTER}/api-reference/parameters`,
    },
    {
      of: "inference_geo",
      row: { is: "tier", aspect: "geo", words: { global: "", us: "us" } },
      source: "https://platform.claude.com/docs/en/manage-claude/data-residency",
    },
  ],
  tools: [
    { of: "function", row: FREE, source: `${OPENAI}/docs/guides/function-calling` },
    { of: "custom", row: FREE, source: `${OPENAI}/docs/guides/function-calling` },
    {
      of: "web_search",
      row: { is: "tool", name: "web_search", isRead: true, assumed: 1 },
      source: "https://docs.z.ai/guides/tools/web-search",
    },
    {
      of: "openrouter:web_search",
      row: { is: "tool", name: "web_search", isRead: true, assumed: 1 },
      source: `${OPENROUTER}/guides/features/server-tools/web-search`,
    },
    {
      of: "browser_search",
      row: { is: "tool", name: "browser_search", isRead: true, assumed: 1 },
      source: "https://console.groq.com/docs/browser-search",
    },
    {
      of: "code_interpreter",
      row: { is: "tool", name: "code_interpreter", isRead: true, assumed: 1 },
      source: "https://console.groq.com/docs/code-execution",
    },
    { of: "live_search", row: { is: "tool", name: "live_search", isRead: true, assumed: 1 }, source: XAI },
    {
      of: "x_search",
      row: { is: "tool", name: "x_search", isRead: true, assumed: 1 },
      source: "https://docs.x.ai/docs/guides/tools/search-tools",
    },
  ],
  free: [
    "model",
    "messages",
    "stream",
    "stream_options",
    "svc",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "best_of",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "stop",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "user",
    "safety_identifier",
    "metadata",
    "store",
    "response_format",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
    "reasoning_effort",
    "reasoning",
    "verbosity",
    "prediction",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "moderation",
    "usage",
    "thinking",
    "enable_thinking",
    "thinking_budget",
    "include_reasoning",
    "reasoning_format",
    "chat_template_kwargs",
    "keep_alive",
    "options",
    "think",
    "safe_prompt",
    "random_seed",
    "prefix",
    "simulator",
  ],
  reference: `${OPENAI}/reference/resources/chat`,
};

const TOOLS = `${OPENAI}/docs/guides/tools`;

export const RESPONSES_ROWS: DialectRows = {
  members: [
    { of: "service_tier", row: SERVICE_TIER, source: `${OPENAI}/docs/guides/priority-processing` },
    { of: "tools", row: { is: "tools" }, source: TOOLS },
    { of: "input", row: { is: "items" }, source: `${OPENAI}/docs/guides/tools-tool-search` },
    { of: "background", row: { is: "unpriced" }, source: `${OPENAI}/docs/guides/background` },
    { of: "plugins", row: PLUGINS, source: `${OPENROUTER}/features/web-search` },
    { of: "search_parameters", row: { ...SEARCH, name: "live_search" }, source: XAI },
    { of: "enable_search", row: SEARCH, source: "https://help.aliyun.com/zh/model-studio/web-search" },
    { of: "context_management", row: { is: "tokens" }, source: `${OPENAI}/docs/guides/compaction` },
    { of: "modalities", row: { is: "words", free: ["text"] }, source: `${OPENAI}/docs/guides/audio` },
    { of: "audio", row: { is: "unpriced" }, source: `${OPENAI}/docs/guides/audio` },
    { of: "provider", row: ROUTED, source: `${OPENROUTER}/features/provider-routing` },
    { of: "preset", row: { is: "unpriced" }, source: `${OPENROUTER}/features/presets` },
  ],
  tools: [
    ...(["function", "custom"] as const).map((of) => ({
      of,
      row: FREE,
      source: `${OPENAI}/docs/guides/function-calling`,
    })),
    { of: "namespace", row: { is: "group", at: "tools" }, source: `${TOOLS}-tool-search` },
    { of: "tool_search", row: FREE, source: `${TOOLS}-tool-search` },
    { of: "local_shell", row: FREE, source: `${TOOLS}-local-shell` },
    { of: "apply_patch", row: FREE, source: `${TOOLS}-apply-patch` },
    { of: "computer", row: FREE, source: `${TOOLS}-computer-use` },
    { of: "computer_use_preview", row: FREE, source: `${TOOLS}-computer-use` },
    { of: "shell", row: { is: "environment", name: "shell" }, source: `${TOOLS}-shell` },
    {
      of: "web_search",
      row: { is: "tool", name: "web_search", isRead: true },
      source: `${TOOLS}-web-search`,
    },
    {
      of: "web_search_preview",
      row: { is: "tool", name: "web_search_preview", isRead: true },
      source: `${TOOLS}-web-search`,
    },
    {
      of: "file_search",
      row: { is: "tool", name: "file_search", isRead: true },
      source: `${TOOLS}-file-search`,
    },
    {
      of: "code_interpreter",
      row: { is: "tool", name: "code_interpreter", isRead: true, machineAt: "container" },
      source: `${TOOLS}-code-interpreter`,
    },
    {
      of: "image_generation",
      row: { is: "tool", name: "image_generation", isRead: true },
      source: `${TOOLS}-image-generation`,
    },
    { of: "mcp", row: { is: "tool", name: "mcp", isRead: true }, source: `${TOOLS}-connectors-mcp` },
    ...(["x_search", "code_execution", "collections_search"] as const).map((name) => ({
      of: name,
      row: { is: "tool", name, isRead: true } as const,
      source: "https://docs.x.ai/docs/guides/tools/overview",
    })),
    ...(["browser_search"] as const).map((name) => ({
      of: name,
      row: { is: "tool", name, isRead: true } as const,
      source: "https://console.groq.com/docs/browser-search",
    })),
  ],
  toolVersion: /_\d{4}_\d{2}_\d{2}$/,
  free: [
    "model",
    "svc",
    "instructions",
    "stream",
    "stream_options",
    "store",
    "conversation",
    "previous_response_id",
    "prompt",
    "tool_choice",
    "parallel_tool_calls",
    "max_tool_calls",
    "text",
    "reasoning",
    "max_output_tokens",
    "temperature",
    "top_p",
    "top_logprobs",
    "include",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "metadata",
    "client_metadata",
    "truncation",
    "moderation",
    "image",
    "simulator",
  ],
  reference: `${OPENAI}/reference/resources/responses`,
  usesAt: "max_tool_calls",
};
