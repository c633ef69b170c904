/**
 * Builds providers from `providers.yaml` and the environment. The credential is read here, once, and sits on the
 * provider as a property that no serialiser or logger lists.
 */
import { type Problem, pointerTo } from "../document.ts";
import type { DataPolicy, Provider } from "../endpoint.ts";
import type { ConfigDocument } from "./files.ts";
import type { ProviderEntry, ProvidersFile } from "./schema.ts";

export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Origin of the built-in simulator, such as `http://127.0.0.1:41234`; undefined where it does not run. */
  readonly simulatorUrl: string | undefined;
}

/** Providers by id; problems are added to `problems`. */
export function buildProviders(
  document: ConfigDocument<ProvidersFile>,
  environment: Environment,
  problems: Problem[],
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  document.value.providers.forEach((entry, p) => {
    const refuse = (key: string, message: string) => {
      const path = ["providers", p, key];
      problems.push({ file: document.file, ...document.at(path), pointer: pointerTo(path), message });
    };
    if (providers.has(entry.id)) refuse("id", `provider ${entry.id} stands already above`);
    const baseUrl = expand(entry.base_url, environment);
    if (baseUrl !== undefined) {
      const fault = faultOf(baseUrl);
      if (fault !== undefined) refuse("base_url", fault);
    }
    providers.set(entry.id, provider(entry, baseUrl, credentialOf(entry, environment)));
  });
  return providers;
}

function provider(
  entry: ProviderEntry,
  baseUrl: string | undefined,
  credential: string | undefined,
): Provider {
  const reachable = baseUrl !== undefined && (entry.credential_env.length === 0 || credential !== undefined);
  const built = {
    id: entry.id,
    name: entry.name,
    baseUrl: baseUrl ?? "",
    dialect: entry.dialect,
    credentialEnv: Object.freeze([...entry.credential_env]),
    simulated: entry.simulated,
    dataPolicy: Object.freeze<DataPolicy>({
      trains: entry.data_policy.trains,
      retentionDays: entry.data_policy.retention_days,
      zdr: entry.data_policy.zdr,
    }),
    regions: Object.freeze([...entry.regions]),
    termsUrl: entry.terms_url,
    status: entry.status === "active" && reachable ? ("active" as const) : ("inactive" as const),
    quirks: Object.freeze({
      streamUsage: entry.quirks.stream_usage,
      maxTokensField: entry.quirks.max_tokens_field,
      billsAfterDisconnect: entry.quirks.bills_after_disconnect,
    }),
  };
  // Not enumerable: JSON.stringify, spreads, console and loggers pass it by.
  return Object.freeze(
    Object.defineProperty(built, "credential", { value: credential, enumerable: false }) as Provider,
  );
}

function credentialOf(entry: ProviderEntry, { env }: Environment): string | undefined {
  for (const name of entry.credential_env) {
    const value = env[name]?.trim();
    if (value) return value;
  }
  return undefined;
}

/** `${NAME}` replaced; undefined when one of them has no value. */
function expand(template: string, { env, simulatorUrl }: Environment): string | undefined {
  let complete = true;
  const url = template.replaceAll(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_, name: string) => {
    const value = name === "SIMULATOR_URL" ? simulatorUrl : env[name]?.trim();
    if (!value) complete = false;
    return value?.replace(/\/$/, "") ?? "";
  });
  return complete ? url : undefined;
}

/** What is wrong with a base URL; its text is not repeated, since it may hold a secret. */
function faultOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return "is no http or https URL";
  if (parsed.username !== "" || parsed.password !== "") return "must hold no credential; use credential_env";
  if (parsed.search !== "" || parsed.hash !== "") return "must have no query and no fragment";
  if (url.endsWith("/")) return "must not end in a slash; the dialect's path is appended";
  return undefined;
}
