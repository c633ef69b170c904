/** Rows of the chat and responses dialects, with those of providers that extend them. */
import {
  type DialectRows,
  FREE,
  GEO,
  type MemberRow,
  OPENROUTER,
  PLUGINS,
  pricedTool,
  ROUTED,
  type Sourced,
  SPEED,
  unreportedTool,
} from "./rows.ts";

const OPENAI = "https://developers.openai.com/api";
const GOOGLE_EXTRAS = "https://ai.google.dev/gemini-api/docs/openai";
const XAI = "https://docs.x.ai/docs/guides/live-search";
const XAI_TOOLS = "https://docs.x.ai/docs/guides/tools/overview";
const GROQ_SEARCH = "https://console.groq.com/docs/browser-search";

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

const ALIBABA_SEARCH = "https://help.aliyun.com/zh/model-studio/web-search";

/** Members of both dialects that ask for a search. */
const SEARCHES: readonly Sourced<MemberRow>[] = [
  PLUGINS,
  { of: "search_parameters", row: unreportedTool("live_search"), source: XAI },
  { of: "enable_search", row: unreportedTool("web_search"), source: ALIBABA_SEARCH },
];
/** Members of both dialects that choose kinds of output, or who answers. */
const OUTPUTS_AND_HOSTS: readonly Sourced<MemberRow>[] = [
  { of: "modalities", row: { is: "words", free: ["text"] }, source: `${OPENAI}/docs/guides/audio` },
  { of: "audio", row: { is: "unpriced" }, source: `${OPENAI}/docs/guides/audio` },
  ROUTED,
  { of: "preset", row: { is: "unpriced" }, source: `${OPENROUTER}/features/presets` },
];

export const CHAT_ROWS: DialectRows = {
  members: [
    { of: "service_tier", row: SERVICE_TIER, source: `${OPENAI}/docs/guides/priority-processing` },
    { of: "tools", row: { is: "tools" }, source: `${OPENAI}/reference/resources/chat` },
    {
      of: "web_search_options",
      row: { is: "tool", name: "web_search_options", isRead: true, assumed: 1, always: true },
      source: `${OPENAI}/docs/guides/tools-web-search?api-mode=chat`,
    },
    ...SEARCHES,
    { of: "web_search", row: unreportedTool("web_search"), source: ALIBABA_SEARCH },
    {
      of: "mcp_servers",
      row: { is: "tool", name: "mcp", isRead: true, assumed: 0 },
      source: "https://docs.x.ai/docs/guides/tools/remote-mcp-tools",
    },
    ...OUTPUTS_AND_HOSTS,
    { of: "models", row: { is: "unpriced" }, source: `${OPENROUTER}/features/model-routing` },
    // The answer comes later, to the account that asked: no call could be charged for it.
    {
      of: "deferred",
      row: { is: "unpriced" },
      source: "https://docs.x.ai/docs/guides/deferred-chat-completions",
    },
    { of: "extra_body", row: { is: "body" }, source: GOOGLE_EXTRAS },
    { of: "google", row: { is: "body" }, source: GOOGLE_EXTRAS },
    { of: "speed", row: SPEED, source: `${OPENROUTER}/api-reference/parameters` },
    {
      of: "inference_geo",
      row: GEO,
      source: "https://platform.claude.com/docs/en/manage-claude/data-residency",
    },
  ],
  tools: [
    { of: "function", row: FREE, source: `${OPENAI}/docs/guides/function-calling` },
    { of: "custom", row: FREE, source: `${OPENAI}/docs/guides/function-calling` },
    {
      of: "web_search",
      row: unreportedTool("web_search"),
      source: "https://docs.z.ai/guides/tools/web-search",
    },
    {
      of: "openrouter:web_search",
      row: unreportedTool("web_search"),
      source: `${OPENROUTER}/guides/features/server-tools/web-search`,
    },
    { of: "browser_search", row: unreportedTool("browser_search"), source: GROQ_SEARCH },
    {
      of: "code_interpreter",
      row: unreportedTool("code_interpreter"),
      source: "https://console.groq.com/docs/code-execution",
    },
    { of: "live_search", row: unreportedTool("live_search"), source: XAI },
    {
      of: "x_search",
      row: unreportedTool("x_search"),
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
    ...SEARCHES,
    { of: "context_management", row: { is: "tokens" }, source: `${OPENAI}/docs/guides/compaction` },
    ...OUTPUTS_AND_HOSTS,
  ],
  tools: [
    { of: "function", row: FREE, source: `${OPENAI}/docs/guides/function-calling` },
    { of: "custom", row: FREE, source: `${OPENAI}/docs/guides/function-calling` },
    { of: "namespace", row: { is: "group", at: "tools" }, source: `${TOOLS}-tool-search` },
    { of: "tool_search", row: FREE, source: `${TOOLS}-tool-search` },
    { of: "local_shell", row: FREE, source: `${TOOLS}-local-shell` },
    { of: "apply_patch", row: FREE, source: `${TOOLS}-apply-patch` },
    { of: "computer", row: FREE, source: `${TOOLS}-computer-use` },
    { of: "computer_use_preview", row: FREE, source: `${TOOLS}-computer-use` },
    { of: "shell", row: { is: "environment", name: "shell" }, source: `${TOOLS}-shell` },
    { of: "web_search", row: pricedTool("web_search"), source: `${TOOLS}-web-search` },
    { of: "web_search_preview", row: pricedTool("web_search_preview"), source: `${TOOLS}-web-search` },
    { of: "file_search", row: pricedTool("file_search"), source: `${TOOLS}-file-search` },
    {
      of: "code_interpreter",
      row: { is: "tool", name: "code_interpreter", isRead: true, machineAt: "container" },
      source: `${TOOLS}-code-interpreter`,
    },
    { of: "image_generation", row: pricedTool("image_generation"), source: `${TOOLS}-image-generation` },
    { of: "mcp", row: pricedTool("mcp"), source: `${TOOLS}-connectors-mcp` },
    { of: "x_search", row: pricedTool("x_search"), source: XAI_TOOLS },
    { of: "code_execution", row: pricedTool("code_execution"), source: XAI_TOOLS },
    { of: "collections_search", row: pricedTool("collections_search"), source: XAI_TOOLS },
    { of: "browser_search", row: pricedTool("browser_search"), source: GROQ_SEARCH },
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

const LLAMA_CPP = "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md";

/** Members of chat that cost money count here too, as those of every dialect do. */
export const COMPLETIONS_ROWS: DialectRows = {
  members: [
    { of: "service_tier", row: SERVICE_TIER, source: `${OPENAI}/docs/guides/priority-processing` },
    // Other names of `max_tokens` and `n`: what they ask for is not held.
    { of: "n_predict", row: { is: "unpriced" }, source: LLAMA_CPP },
    { of: "n_cmpl", row: { is: "unpriced" }, source: LLAMA_CPP },
    {
      of: "prompt_embeds",
      row: { is: "tokens" },
      source: "https://docs.vllm.ai/en/latest/features/prompt_embeds.html",
    },
    {
      of: "images",
      row: { is: "tokens" },
      source: "https://docs.fireworks.ai/guides/querying-vision-language-models",
    },
  ],
  tools: [],
  free: [
    "model",
    "svc",
    "prompt",
    "suffix",
    "stream",
    "stream_options",
    "max_tokens",
    "min_tokens",
    "n",
    "best_of",
    "echo",
    "logprobs",
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
    "user",
    "prompt_cache_key",
    "random_seed",
    "keep_alive",
    "simulator",
  ],
  reference: `${OPENAI}/reference/resources/completions`,
};
