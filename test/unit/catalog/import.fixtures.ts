/** A catalog that models are imported into, and what the sources of models answer. */
/** The providers of a catalog. */
export const PROVIDERS = `providers:
  - id: acme
    name: Acme
    base_url: https://api.acme.example/v1
    dialects: [chat, responses, openai_embeddings]
    credential_env: [ACME_API_KEY]
    data_policy: { trains: false, retention_days: 0, zdr: true }
    regions: [eu, global]
  - id: openai
    name: OpenAI
    base_url: https://api.openai.example/v1
    dialects: [chat, responses, openai_embeddings]
    credential_env: [OPENAI_API_KEY]
    data_policy: { trains: false, retention_days: 0, zdr: true }
    regions: [global]
  - id: openrouter
    name: OpenRouter
    base_url: https://openrouter.example/v1
    dialects: [chat]
    credential_env: [OPENROUTER_API_KEY]
    data_policy: { trains: false, retention_days: 0, zdr: false }
    regions: [global]
`;

/** A file of models that somebody keeps by hand. */
export const OPENAI = `# Kept by hand.

vendor: openai
models:
  # The first one.
  - id: openai/one
    name: One
    modalities: { in: [text],   out: [text] }
    context: 1000
    max_output: 100
    capabilities: [tools, parallel_tools]
    endpoints:
      - provider: openai
        upstream_model: one
        price: { input: 2.50, output: 10.00 } # as agreed

  - id: openai/two
    name: Two
    modalities: { in: [text], out: [text] }
    context: 1000
    max_output: 100
    capabilities: []
    endpoints:
      - provider: openai
        upstream_model: two
        price:
          input: 1
          # Dear.
          output: 2
      - provider: acme
        upstream_model: openai/two
        region: eu
        price: { input: 1, output: 2 }
`;

/** A model as models.dev lists it. */
export const dev = (id: string, fields: object = {}) => ({
  id,
  name: `The ${id}`,
  release_date: "2026-05-04",
  reasoning: false,
  tool_call: true,
  modalities: { input: ["text", "pdf"], output: ["text"] },
  limit: { context: 1000, output: 100 },
  cost: { input: 2.5, output: 10 },
  ...fields,
});

/** What models.dev answers. */
export const modelsDev = (providers: Record<string, object[]>) =>
  Object.fromEntries(
    Object.entries(providers).map(([id, models]) => [
      id,
      { id, name: id, models: Object.fromEntries(models.map((m) => [(m as { id: string }).id, m])) },
    ]),
  );

/** A model as OpenRouter lists it. @param pricing USD a token */
export const routed = (id: string, pricing: object, fields: object = {}) => ({
  id,
  name: `Maker: ${id}`,
  created: 1_780_000_000,
  context_length: 2000,
  pricing,
  architecture: { input_modalities: ["text", "image", "file"], output_modalities: ["text"] },
  top_provider: { context_length: 2000, max_completion_tokens: null },
  supported_parameters: ["tools", "structured_outputs"],
  ...fields,
});
