/**
 * The configuration of a demo: forty models of well-known vendors as the shipped catalog has them, with its prices, each served by the
 * built-in simulator at a pace of its own. No call of a demo leaves the machine.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { OPERATOR } from "./cast.ts";

/** Models of the shipped catalog, the most used ones first. */
export const MODELS = [
  "openai/gpt-5.4-mini",
  "anthropic/claude-sonnet-5",
  "google/gemini-3.5-flash",
  "openai/gpt-5.5",
  "anthropic/claude-haiku-4-5",
  "openai/gpt-5.4",
  "deepseek/deepseek-v4-flash",
  "anthropic/claude-opus-4-8",
  "google/gemini-3.1-pro-preview",
  "openai/gpt-5-nano",
  "mistralai/mistral-medium-2604",
  "meta-llama/llama-3.3-70b-instruct",
  "openai/gpt-4.1-mini",
  "openai/gpt-oss-120b",
  "moonshotai/kimi-k2.7-code",
  "qwen/qwen3.7-plus",
  "x-ai/grok-4.3",
  "openai/gpt-5.3-codex",
  "anthropic/claude-sonnet-4-6",
  "google/gemini-3.1-flash-lite",
  "z-ai/glm-5.2",
  "openai/o4-mini",
  "deepseek/deepseek-v4-pro",
  "mistralai/mistral-small-2603",
  "minimax/minimax-m3",
  "openai/gpt-4o-mini",
  "mistralai/codestral-latest",
  "qwen/qwen3.5-397b-a17b",
  "x-ai/grok-build-0.1",
  "openai/gpt-4.1",
  "meta-llama/llama-4-scout",
  "nvidia/nemotron-3-ultra-550b-a55b",
  "anthropic/claude-opus-4-5",
  "openai/gpt-5.2",
  "google/gemma-4-31b-it",
  "openai/gpt-oss-20b",
  "moonshotai/kimi-k2.6",
  "mistralai/magistral-medium-latest",
  "qwen/qwen3-32b",
  "openai/text-embedding-3-small",
] as const;

/** Milliseconds to the first token, and between two. */
const PACES: Readonly<Record<string, readonly [first: number, gap: number]>> = {
  openai: [180, 9],
  anthropic: [240, 12],
  google: [140, 6],
  mistral: [110, 8],
  groq: [40, 2],
  together: [160, 7],
  fireworks: [130, 5],
  deepseek: [260, 14],
  xai: [210, 9],
};
/** The canary's: it answers every call with an error. */
export const FAILING = "north-cloud";
export const CANARY_MODEL = "openai/gpt-5.4-mini";

/** The provider for which the demo's org has a key of its own. */
export const OF_OWN_KEY = "south-cloud";

const SHIPPED = join(import.meta.dirname, "../../config");

interface Entry {
  readonly id: string;
  readonly endpoints: readonly Readonly<Record<string, unknown>>[];
}
type Listed = Readonly<Record<string, unknown>> & { readonly id: string };

/** Writes `CONFIG_DIR`. @param keys that its plan must have room for */
export function writeCatalog(folder: string, keys: number): void {
  mkdirSync(join(folder, "models"), { recursive: true });
  for (const name of ["supplier.yaml", "fx.yaml"]) cpSync(join(SHIPPED, name), join(folder, name));
  const shipped = parse(readFileSync(join(SHIPPED, "providers.yaml"), "utf8")).providers as Listed[];
  const own = shipped.filter(({ id }) => id === "simulator");
  const simulated = shipped.filter(({ id }) => PACES[id] !== undefined).map(simulatedBy);
  write(join(folder, "providers.yaml"), { providers: [...own, ...simulated, failing(), withCredential()] });
  cpSync(join(SHIPPED, "models/weir.yaml"), join(folder, "models/weir.yaml"));
  const wanted = new Set<string>(MODELS);
  for (const name of readdirSync(join(SHIPPED, "models"))) {
    const file = parse(readFileSync(join(SHIPPED, "models", name), "utf8"));
    const models = (file.models as Entry[]).filter(({ id }) => wanted.has(id)).map(ownEndpoints);
    if (models.length > 0) write(join(folder, "models", name), { ...file, models });
  }
  write(join(folder, "weir.yaml"), {
    default_plan: "demo",
    operators: [OPERATOR.email],
    grant_usd: 25,
    quotas: { keys_ever: 100_000 + keys, changes_per_day: 20_000 },
    request_limits: {
      person: { reads: 12_000, changes: 6_000 },
      address: { reads: 12_000, changes: 6_000, failures: 300 },
    },
  });
  const sold = parse(readFileSync(join(SHIPPED, "plans.yaml"), "utf8")).plans as SoldPlan[];
  write(join(folder, "plans.yaml"), { plans: [planFor(keys), ...plansFor(sold, keys)] });
}

const write = (path: string, value: object): void => writeFileSync(path, stringify(value));

const pace = ([first, gap]: readonly [number, number]): string =>
  `\${SIMULATOR_URL}/with/${encodeURIComponent(JSON.stringify({ first_ms: first, gap_ms: gap }))}`;

/** What the provider says of itself stays; how it is reached does not. */
function simulatedBy({ id, name, dialects, data_policy, regions, server_tools, quirks }: Listed): object {
  const version = id === "google" ? "/v1beta" : "/v1";
  return {
    id,
    name: `${name} (simulated)`,
    base_url: `${pace(PACES[id] ?? [0, 0])}${version}`,
    dialects,
    data_policy,
    regions,
    simulated: true,
    ...(server_tools !== undefined && { server_tools }),
    ...(quirks !== undefined && { quirks }),
  };
}

const failing = (): object => ({
  id: FAILING,
  name: "North Cloud (simulated, failing)",
  base_url: `\${SIMULATOR_URL}/with/${encodeURIComponent(JSON.stringify({ status: 502, error_message: "upstream connect error" }))}/v1`,
  dialects: ["chat"],
  data_policy: { trains: false, retention_days: 0, zdr: true },
  regions: ["eu"],
  simulated: true,
});

/** One that orgs may have an own key for; no model of the demo is served by it. */
const withCredential = (): object => ({
  id: OF_OWN_KEY,
  name: "South Cloud (simulated)",
  base_url: `\${SIMULATOR_URL}/v1`,
  credential_env: ["SOUTH_CLOUD_API_KEY"],
  dialects: ["chat"],
  data_policy: { trains: false, retention_days: 30, zdr: false },
  regions: ["ap-south-1"],
  simulated: true,
});

function ownEndpoints(model: Entry): Entry {
  const endpoints = model.endpoints.filter(({ provider }) => PACES[String(provider)] !== undefined);
  if (model.id !== CANARY_MODEL) return { ...model, endpoints };
  const [first] = endpoints;
  const { tiers: _, ...price } = (first?.price ?? {}) as Record<string, unknown>;
  const canary = { provider: FAILING, upstream_model: "gpt-5.4-mini", region: "eu", price };
  return { ...model, endpoints: [...endpoints, canary] };
}

interface SoldPlan {
  readonly id: string;
  readonly limits: { readonly keys: number; readonly projects: number };
}

/** The org has it once it has bought credit. */
export const DEMO_PLAN = "team";

/** Those that are sold, to be compared; the one that the org has, and those above it, have room for its keys. */
function plansFor(shipped: readonly SoldPlan[], keys: number): readonly SoldPlan[] {
  const from = shipped.findIndex(({ id }) => id === DEMO_PLAN);
  return shipped
    .filter(({ id }) => id !== "local")
    .map((plan) => {
      if (shipped.indexOf(plan) < from) return plan;
      return { ...plan, limits: { ...plan.limits, keys: plan.limits.keys + keys } };
    });
}

const planFor = (keys: number) => ({
  id: "demo",
  name: "Demo",
  description: "Limits of a demo installation. Not for sale.",
  demo: true,
  sort: 0,
  limits: {
    rpm: 60_000,
    tpm: 100_000_000,
    concurrency: 1000,
    keys: 1000 + keys,
    projects: 100,
    auto_approve: 2,
  },
  features: { sso: true, priority_support: false },
});
