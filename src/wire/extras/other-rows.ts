/** Rows of dialects that no client speaks: they apply to a provider's own options, and to what translation writes. */
import { type DialectRows, FREE, GEO, type MemberRow, pricedTool, SPEED } from "./rows.ts";

const GEMINI = "https://ai.google.dev/gemini-api/docs";
const BEDROCK = "https://docs.aws.amazon.com/bedrock/latest";

const tier = (words: Readonly<Record<string, string>>): MemberRow => ({ is: "tier", aspect: "tier", words });

export const GEMINI_ROWS: DialectRows = {
  members: [
    {
      of: "serviceTier",
      row: tier({ standard: "", flex: "flex", priority: "priority" }),
      source: `${GEMINI}/optimization`,
    },
    { of: "tools", row: { is: "tools" }, source: `${GEMINI}/pricing` },
    // Its storage is billed by the hour, and it belongs to the account.
    { of: "cachedContent", row: { is: "unpriced" }, source: `${GEMINI}/caching` },
    {
      of: "generationConfig",
      row: {
        is: "object",
        rows: {
          responseModalities: { is: "words", free: ["TEXT", "text"] },
          speechConfig: { is: "unpriced" },
          imageConfig: { is: "unpriced" },
        },
      },
      source: `${GEMINI}/pricing`,
    },
  ],
  areToolsNamed: true,
  tools: [
    { of: "functionDeclarations", row: FREE, source: `${GEMINI}/function-calling` },
    { of: "googleSearch", row: pricedTool("google_search"), source: `${GEMINI}/google-search` },
    { of: "googleSearchRetrieval", row: pricedTool("google_search"), source: `${GEMINI}/google-search` },
    { of: "googleMaps", row: pricedTool("google_maps"), source: `${GEMINI}/maps-grounding` },
    { of: "urlContext", row: pricedTool("url_context"), source: `${GEMINI}/url-context` },
    { of: "codeExecution", row: pricedTool("code_execution"), source: `${GEMINI}/code-execution` },
    { of: "fileSearch", row: pricedTool("file_search"), source: `${GEMINI}/file-search` },
    {
      of: "enterpriseWebSearch",
      row: pricedTool("enterprise_web_search"),
      source: "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/grounding/web-grounding-enterprise",
    },
    { of: "computerUse", row: FREE, source: `${GEMINI}/computer-use` },
  ],
  free: ["contents", "systemInstruction", "toolConfig", "safetySettings", "labels", "model"],
  reference: "https://ai.google.dev/api/generate-content",
};

export const CONVERSE_ROWS: DialectRows = {
  members: [
    {
      of: "serviceTier",
      row: {
        is: "tier",
        aspect: "tier",
        at: "type",
        words: { default: "", flex: "flex", priority: "priority" },
      },
      source: `${BEDROCK}/userguide/service-tiers-inference.html`,
    },
    {
      of: "performanceConfig",
      row: { is: "tier", aspect: "latency", at: "latency", words: { standard: "", optimized: "optimized" } },
      source: `${BEDROCK}/userguide/latency-optimized-inference.html`,
    },
    { of: "guardrailConfig", row: { is: "unpriced" }, source: `${BEDROCK}/userguide/guardrails.html` },
    {
      of: "toolConfig",
      row: { is: "object", rows: { tools: { is: "tools" } } },
      source: `${BEDROCK}/APIReference/API_runtime_Tool.html`,
    },
    // Members of the model's own format, as in the messages dialect.
    {
      of: "additionalModelRequestFields",
      row: {
        is: "object",
        rows: {
          anthropic_beta: { is: "betas" },
          tools: { is: "unpriced" },
          mcp_servers: { is: "unpriced" },
          container: { is: "unpriced" },
          speed: SPEED,
          service_tier: tier({ auto: "", standard_only: "", default: "" }),
          inference_geo: GEO,
          context_management: { is: "unpriced" },
        },
      },
      source: `${BEDROCK}/userguide/model-parameters-anthropic-claude-messages.html`,
    },
  ],
  areToolsNamed: true,
  tools: [
    { of: "toolSpec", row: FREE, source: `${BEDROCK}/APIReference/API_runtime_Tool.html` },
    { of: "cachePoint", row: FREE, source: `${BEDROCK}/APIReference/API_runtime_Tool.html` },
    {
      of: "systemTool",
      row: pricedTool("system_tool"),
      source: `${BEDROCK}/APIReference/API_runtime_SystemTool.html`,
    },
  ],
  free: [
    "messages",
    "system",
    "inferenceConfig",
    "outputConfig",
    "requestMetadata",
    "promptVariables",
    "additionalModelResponseFieldPaths",
  ],
  reference: `${BEDROCK}/APIReference/API_runtime_Converse.html`,
};

/** Embeddings and rankings of all dialects: no provider lists tiers or tools of them; a tier counts as priced all the same. */
export const TASK_ROWS: DialectRows = {
  members: [
    {
      of: "service_tier",
      row: tier({ auto: "", default: "", standard: "", on_demand: "" }),
      source: "https://developers.openai.com/api/reference/resources/embeddings",
    },
  ],
  tools: [],
  free: [
    "model",
    "svc",
    "input",
    "inputs",
    "texts",
    "encoding_format",
    "embedding_types",
    "dimensions",
    "user",
    "input_type",
    "task",
    "truncate",
    "truncation",
    "output_dimension",
    "output_dtype",
    "normalized",
    "late_chunking",
    "query",
    "documents",
    "top_n",
    "top_k",
    "return_documents",
    "embedding_type",

    "max_tokens_per_doc",
    "priority",
    "requests",
    "content",
    "outputDimensionality",
    "taskType",
    "simulator",
  ],
  reference: "https://developers.openai.com/api/reference/resources/embeddings",
};
