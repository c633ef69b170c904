/** Rows of the messages dialect, and the betas that cost nothing. */
import { type DialectRows, FREE, GEO, PLUGINS, pricedTool, ROUTED, SPEED } from "./rows.ts";

const CLAUDE = "https://platform.claude.com/docs/en";
const TOOLS = `${CLAUDE}/agents-and-tools/tool-use`;

export const MESSAGES_ROWS: DialectRows = {
  members: [
    {
      of: "service_tier",
      // `auto` takes the account's own priority capacity where it has any, as absence does.
      row: { is: "tier", aspect: "tier", words: { auto: "", standard_only: "" } },
      source: `${CLAUDE}/api/service-tiers`,
    },
    { of: "speed", row: SPEED, source: `${CLAUDE}/build-with-claude/fast-mode` },
    { of: "inference_geo", row: GEO, source: `${CLAUDE}/manage-claude/data-residency` },
    { of: "tools", row: { is: "tools" }, source: `${TOOLS}/overview` },
    {
      of: "mcp_servers",
      row: { is: "tool", name: "mcp", isRead: true, isPart: true },
      source: `${CLAUDE}/agents-and-tools/mcp-connector`,
    },
    {
      of: "container",
      row: { is: "tool", name: "code_execution", isRead: true, isPart: true },
      source: `${TOOLS}/code-execution-tool`,
    },
    {
      of: "context_management",
      row: {
        is: "object",
        rows: {
          edits: {
            is: "typed",
            rows: {
              clear_tool_uses_20250919: FREE,
              clear_thinking_20251015: FREE,
              compact_20260112: { is: "tokens" },
            },
          },
        },
      },
      source: `${CLAUDE}/build-with-claude/compaction`,
    },
    { of: "compaction", row: { is: "tokens" }, source: `${CLAUDE}/build-with-claude/compaction` },
    {
      of: "fallbacks",
      row: { is: "unpriced" },
      source: `${CLAUDE}/build-with-claude/refusals-and-fallback`,
    },
    { of: "anthropic_beta", row: { is: "betas" }, source: `${CLAUDE}/api/beta-headers` },
    { of: "betas", row: { is: "betas" }, source: `${CLAUDE}/api/beta-headers` },
    PLUGINS,
    ROUTED,
  ],
  tools: [
    { of: "custom", row: FREE, source: `${TOOLS}/overview` },
    { of: "bash", row: FREE, source: `${TOOLS}/bash-tool` },
    { of: "text_editor", row: FREE, source: `${TOOLS}/text-editor-tool` },
    { of: "computer", row: FREE, source: `${TOOLS}/computer-use-tool` },
    { of: "computer_toolset", row: FREE, source: `${TOOLS}/computer-use-tool` },
    { of: "browser_toolset", row: FREE, source: `${TOOLS}/browser-use-tool` },
    { of: "memory", row: FREE, source: `${TOOLS}/memory-tool` },
    { of: "tool_search_tool_regex", row: FREE, source: `${TOOLS}/tool-search-tool` },
    { of: "tool_search_tool_bm25", row: FREE, source: `${TOOLS}/tool-search-tool` },
    { of: "web_search", row: pricedTool("web_search"), source: `${TOOLS}/web-search-tool` },
    { of: "web_fetch", row: pricedTool("web_fetch"), source: `${TOOLS}/web-fetch-tool` },
    { of: "code_execution", row: pricedTool("code_execution"), source: `${TOOLS}/code-execution-tool` },
    { of: "advisor", row: { is: "tool", name: "advisor" }, source: `${TOOLS}/advisor-tool` },
    { of: "mcp_toolset", row: pricedTool("mcp"), source: `${CLAUDE}/agents-and-tools/mcp-connector` },
  ],
  toolVersion: /_\d{8}$/,
  free: [
    "model",
    "svc",
    "messages",
    "system",
    "stream",
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "tool_choice",
    "thinking",
    "output_config",
    "output_format",
    "metadata",
    "cache_control",
    "diagnostics",
    "thread",
    "anthropic_version",
    "simulator",
  ],
  reference: `${CLAUDE}/api/messages`,
};

/**
 * Betas that cost nothing by themselves: they change what an answer holds, or allow a member or tool that has a row of its own.
 * Left out on purpose: `context-1m-*` (another price for long prompts) and betas that put tools into messages, where no row looks.
 * https://platform.claude.com/docs/en/api/beta-headers, the SDK's `AnthropicBeta`, and what Claude Code sends.
 */
export const FREE_ANTHROPIC_BETAS: readonly string[] = [
  "claude-code-20250219",
  "oauth-2025-04-20",
  "interleaved-thinking-2025-05-14",
  "fine-grained-tool-streaming-2025-05-14",
  "context-management-2025-06-27",
  "effort-2025-11-24",
  "prompt-caching-2024-07-31",
  "prompt-caching-scope-2026-01-05",
  "extended-cache-ttl-2025-04-11",
  "thinking-token-count-2026-05-13",
  "mid-conversation-system-2026-04-07",
  "redact-thinking-2026-02-12",
  "adaptive-thinking-2026-01-28",
  "thinking-display-updates-2026-08-18",
  "dev-full-thinking-2025-05-14",
  "thinking-binding-controls-2026-08-01",
  "mid-conversation-output-config-2026-07-01",
  "mid-conversation-system-clear-at-2026-08-21",
  "model-context-window-exceeded-2025-08-26",
  "structured-outputs-2025-11-13",
  "structured-outputs-2025-12-15",
  "task-budgets-2026-03-13",
  "token-efficient-tools-2025-02-19",
  "token-counting-2024-11-01",
  "output-128k-2025-02-19",
  "output-300k-2026-03-24",
  "pdfs-2024-09-25",
  "files-api-2025-04-14",
  "search-results-2025-06-09",
  "cache-diagnosis-2026-04-07",
  "message-batches-2024-09-24",
  "computer-use-2024-10-22",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "advanced-tool-use-2025-11-20",
  "tool-search-tool-2025-10-19",
  "tool-examples-2025-10-29",
  "mcp-client-2025-04-04",
  "mcp-client-2025-11-20",
  "mcp-client-2026-09-15",
  "code-execution-2025-05-22",
  "code-execution-2025-08-25",
  "web-fetch-2025-09-10",
  "web-search-2025-03-05",
  "skills-2025-10-02",
  "advisor-tool-2026-03-01",
  "compact-2026-01-12",
  "compact-2026-09-04",
];

/** Betas that belong to a tier: sent where the endpoint has its price. */
export const TIER_BETAS: Readonly<Record<string, string>> = {
  "fast-mode-2026-02-01": "fast",
};

/** What clients of the responses format send (`OpenAI-Beta`); none of it changes a price. */
export const FREE_OPENAI_BETAS: readonly string[] = [
  "responses=experimental",
  "responses=v1",
  "assistants=v2",
];
