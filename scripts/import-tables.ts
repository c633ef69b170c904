/**
 * Facts that `import-models.ts` needs and the catalogue's source lacks: which open-weight model is which, who else
 * serves a model, what is excluded, how many tokens an image can cost. Each table names its sources.
 */

/** Source provider → our provider id and, for makers that serve their own models, the vendor id. */
export const PROVIDERS: Record<string, { id: string; vendor?: string }> = {
  openai: { id: "openai", vendor: "openai" },
  anthropic: { id: "anthropic", vendor: "anthropic" },
  google: { id: "google", vendor: "google" },
  mistral: { id: "mistral", vendor: "mistralai" },
  deepseek: { id: "deepseek", vendor: "deepseek" },
  xai: { id: "xai", vendor: "x-ai" },
  cohere: { id: "cohere", vendor: "cohere" },
  groq: { id: "groq" },
  "fireworks-ai": { id: "fireworks" },
  togetherai: { id: "together" },
};

/** Open-weight models: one model, whoever serves it. Models of a host that are not listed here are excluded. */
export const OPEN_WEIGHT: Record<string, string[]> = {
  "openai/gpt-oss-120b": ["openai/gpt-oss-120b", "accounts/fireworks/models/gpt-oss-120b"],
  "openai/gpt-oss-20b": ["openai/gpt-oss-20b", "accounts/fireworks/models/gpt-oss-20b"],
  "openai/gpt-oss-safeguard-20b": ["openai/gpt-oss-safeguard-20b"],
  "meta-llama/llama-3.3-70b-instruct": ["llama-3.3-70b-versatile", "meta-llama/Llama-3.3-70B-Instruct-Turbo"],
  "meta-llama/llama-3.1-8b-instruct": ["llama-3.1-8b-instant"],
  "meta-llama/llama-3-8b-instruct": ["meta-llama/Meta-Llama-3-8B-Instruct-Lite"],
  "meta-llama/llama-4-scout": ["meta-llama/llama-4-scout-17b-16e-instruct"],
  "deepseek/deepseek-v4-pro": ["deepseek-v4-pro", "deepseek-ai/DeepSeek-V4-Pro"],
  "google/gemma-4-31b-it": ["google/gemma-4-31B-it"],
  "google/gemma-3n-e4b-it": ["google/gemma-3n-E4B-it"],
  "qwen/qwen3-32b": ["qwen/qwen3-32b"],
  "qwen/qwen-2.5-7b-instruct": ["Qwen/Qwen2.5-7B-Instruct-Turbo"],
  "qwen/qwen3-235b-a22b-2507": ["Qwen/Qwen3-235B-A22B-Instruct-2507-tput"],
  "qwen/qwen3.5-397b-a17b": ["Qwen/Qwen3.5-397B-A17B"],
  "qwen/qwen3.5-9b": ["Qwen/Qwen3.5-9B"],
  "qwen/qwen3.6-plus": ["Qwen/Qwen3.6-Plus"],
  "qwen/qwen3.7-max": ["Qwen/Qwen3.7-Max"],
  "qwen/qwen3.7-plus": ["accounts/fireworks/models/qwen3p7-plus"],
  "z-ai/glm-5": ["zai-org/GLM-5"],
  "z-ai/glm-5.1": [
    "zai-org/GLM-5.1",
    "accounts/fireworks/models/glm-5p1",
    "accounts/fireworks/routers/glm-5p1-fast",
  ],
  "z-ai/glm-5.2": [
    "zai-org/GLM-5.2",
    "accounts/fireworks/models/glm-5p2",
    "accounts/fireworks/routers/glm-5p2-fast",
  ],
  "moonshotai/kimi-k2.6": [
    "moonshotai/Kimi-K2.6",
    "accounts/fireworks/models/kimi-k2p6",
    "accounts/fireworks/routers/kimi-k2p6-fast",
  ],
  "moonshotai/kimi-k2.7-code": [
    "moonshotai/Kimi-K2.7-Code",
    "accounts/fireworks/models/kimi-k2p7-code",
    "accounts/fireworks/routers/kimi-k2p7-code-fast",
  ],
  "minimax/minimax-m2.7": ["MiniMaxAI/MiniMax-M2.7", "accounts/fireworks/models/minimax-m2p7"],
  "minimax/minimax-m3": ["MiniMaxAI/MiniMax-M3", "accounts/fireworks/models/minimax-m3"],
  "nvidia/nemotron-3-ultra-550b-a55b": ["nvidia/nemotron-3-ultra-550b-a55b"],
  "liquid/lfm2-24b-a2b": ["LiquidAI/LFM2-24B-A2B"],
  "deepcogito/cogito-v2.1-671b": ["deepcogito/cogito-v2-1-671b"],
  "essentialai/rnj-1-instruct": ["essentialai/Rnj-1-Instruct"],
};

export const DISPLAY_NAMES: Record<string, string> = { "openai/gpt-oss-120b": "GPT OSS 120B" };

/** Served on OpenAI's Responses API only. */
export const RESPONSES_ONLY = /^gpt-.*(codex|-pro)|^o\d-pro$/;
/** These call the provider's own tools, which are billed separately. */
export const NOT_PRICED_WHOLE = /deep-research|multi-agent/;
export const NOT_TEXT = /tts|image|prompt-guard/;
export const EMBEDDINGS = /embed/;
/** Aliases of models that are also listed, and snapshots replaced by newer ones. */
export const SUPERSEDED = new Set([
  "claude-haiku-4-5-20251001",
  "claude-opus-4-1-20250805",
  "claude-opus-4-20250514",
  "claude-opus-4-5-20251101",
  "claude-sonnet-4-20250514",
  "claude-sonnet-4-5-20250929",
  "gemini-flash-latest",
  "gemini-flash-lite-latest",
  "gpt-4o-2024-05-13",
  "gpt-4o-2024-08-06",
  "gpt-4o-2024-11-20",
  "mistral-large-2411",
  "mistral-large-latest",
  "mistral-small-latest",
]);
/** Anthropic's models that accept `output_config.format`; the source does not say. */
export const CLAUDE_SCHEMAS = /^claude-(fable-5|haiku-4-5|opus-4-[1-9]|sonnet-(4-[5-9]|5))/;
/**
 * Maximum number of tokens of one image where it exceeds the default of 3,200; the first matching pattern applies.
 * OpenAI: tiles of 5,667 tokens on gpt-4o-mini, 10,000 patches with `detail: original` from gpt-5.4 on, factors of up
 * to 2.46 on the small ones. Anthropic: 4,784 from Opus 4.7 on. Open weights: the bounds of their published processors.
 */
export const IMAGE_TOKENS: readonly (readonly [RegExp, number])[] = [
  [/^gpt-4o-mini/, 48_200],
  [/^gpt-[\d.]+-nano/, 3_800],
  [/^gpt-5\.4-mini/, 3_200],
  [/^gpt-5\.[45]/, 16_200],
  [/^claude-(fable-5|opus-4-[78]|sonnet-5)/, 4_784],
  [/^pixtral/, 4_200],
  [/^command-a-vision/, 3_400],
  [/kimi/i, 4_200],
  [/qwen|minimax/i, 16_400],
];
export const DEFAULT_IMAGE_TOKENS = 3_200;
/**
 * Tokenizers of OpenAI's own models; other makers publish none that is included here. The first matching pattern
 * applies.
 */
export const TOKENIZERS: readonly (readonly [RegExp, string])[] = [
  [/gpt-oss/, "o200k_harmony"],
  [/^openai\/(gpt-3\.5|gpt-4$|gpt-4-turbo|text-embedding)/, "cl100k_base"],
];
export const VENDOR_TOKENIZERS: Record<string, string> = { openai: "o200k_base" };
/**
 * Other providers that serve a maker's model at the maker's price, with its name there. General knowledge: the source
 * does not cover these providers. Regions other than `global` cost more, so they are not included.
 */
export const ALSO_SERVED: Record<string, Record<string, string>> = {
  "claude-haiku-4-5": {
    bedrock: "global.anthropic.claude-haiku-4-5-20251001-v1:0",
    vertex: "claude-haiku-4-5@20251001",
  },
  "claude-opus-4-5": {
    bedrock: "global.anthropic.claude-opus-4-5-20251101-v1:0",
    vertex: "claude-opus-4-5@20251101",
  },
  "claude-sonnet-4-5": {
    bedrock: "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
    vertex: "claude-sonnet-4-5@20250929",
  },
  "gemini-2.5-flash-lite": { vertex: "gemini-2.5-flash-lite" },
  "gemini-3.1-pro-preview": { vertex: "gemini-3.1-pro-preview" },
  "gemini-3.5-flash": { vertex: "gemini-3.5-flash" },
};
/** These accept JSON schemas on every model, though the source does not say so for most. */
export const SCHEMAS_EVERYWHERE = new Set(["mistral", "fireworks", "cohere"]);
/** These do not accept `parallel_tool_calls`. */
export const NO_PARALLEL_TOOLS = new Set(["cohere", "deepseek"]);
export const OPEN_WEIGHT_MARKUP_BPS = 500;
