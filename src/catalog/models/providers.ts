/**
 * Builds providers from `providers.yaml` and the environment. Credentials are read here, once, and stored on the
 * provider's keys as a property that no serialiser or logger lists.
 */
import { type Problem, pointerTo } from "../../base/document/document.ts";
import type {
  Auth,
  BodyQuirks,
  DataPolicy,
  Dialect,
  Provider,
  ProviderKey,
  ProviderQuirks,
  ProviderVariable,
} from "../../base/endpoint.ts";
import { readProxyAddress } from "../../base/network/proxy-address.ts";
import { platformKey } from "../../base/provider-key.ts";
import { needsCredential, poolOf, setting, type Variables, wantedCredential } from "./credentials.ts";
import type { ConfigDocument } from "./files.ts";
import type { ProviderEntry, ProvidersFile } from "./schema.ts";

export interface Environment {
  readonly env: Variables;
  /** Origin of the built-in simulator, such as `http://127.0.0.1:41234`; undefined where it does not run. */
  readonly simulatorUrl: string | undefined;
}

/** Providers by id; problems are added to `problems`. */
export async function buildProviders(
  document: ConfigDocument<ProvidersFile>,
  environment: Environment,
  problems: Problem[],
): Promise<ReadonlyMap<string, Provider>> {
  const providers = new Map<string, Provider>();
  const taken = new Set(document.value.providers.flatMap((entry) => entry.credential_env));
  for (const [p, entry] of document.value.providers.entries()) {
    const refuse = (keys: readonly PropertyKey[], message: string) => {
      const path = ["providers", p, ...keys];
      problems.push({ file: document.file, ...document.at(path), pointer: pointerTo(path), message });
    };
    if (providers.has(entry.id)) refuse(["id"], `provider ${entry.id} stands already above`);
    const missing = new Set<string>();
    const urls = urlsOf(entry, environment, { refuse, missing });
    for (const dialect of Object.keys(entry.paths).filter((d) => !entry.dialects.includes(d as Dialect))) {
      refuse(["paths", dialect], `${entry.id} does not speak ${dialect}: add it to dialects`);
    }
    const { found, faults, variables } = await poolOf(entry, environment.env, taken);
    // Without an address the provider is unused, so faults of its key files do not matter.
    for (const fault of urls === undefined ? [] : faults) refuse(["credential_env"], fault);
    const keys = found.map(({ place, credential }) => platformKey(entry.id, place, credential));
    if (keys.length === 0 && needsCredential(entry)) missing.add(wantedCredential(entry));
    const places = new Map(found.map(({ place }, at) => [place, keys[at]?.id]));
    const shown = variables.map(({ name, isSet, place }): ProviderVariable => {
      const keyId = place === undefined ? undefined : places.get(place);
      return { name, use: "credential", isSet, ...(keyId !== undefined && { keyId }) };
    });
    const read: ReadVariables = {
      env: environment.env,
      missing: [...missing],
      variables: [...shown, ...addressVariables(entry, environment)],
    };
    providers.set(entry.id, provider(entry, urls, keys, read));
  }
  return providers;
}

interface ReadVariables {
  readonly env: Variables;
  readonly missing: readonly string[];
  readonly variables: readonly ProviderVariable[];
}

/** Those that URLs and proxy are made of. */
function addressVariables(
  { base_url, region_urls, proxy = "" }: ProviderEntry,
  environment: Environment,
): ProviderVariable[] {
  const templates = [base_url, ...Object.values(region_urls), proxy];
  const names = templates.flatMap((text) => Array.from(text.matchAll(NAMED), ([, name = ""]) => name));
  return [...new Set(names)].map((name) => ({
    name,
    use: "address",
    isSet: Boolean(settingOf(name, environment)),
  }));
}

interface Urls {
  readonly base: string;
  readonly regions: Readonly<Record<string, string>>;
  readonly proxy: Provider["proxy"];
}

type Refuse = (keys: readonly PropertyKey[], message: string) => void;

/** Undefined when a URL, the proxy's included, needs an unset variable, whose name is added to `missing`. */
function urlsOf(
  entry: ProviderEntry,
  environment: Environment,
  { refuse, missing }: { readonly refuse: Refuse; readonly missing: Set<string> },
): Urls | undefined {
  const read = (template: string, ...keys: string[]): string | undefined => {
    const url = expand(template, environment, missing);
    const fault = url === undefined ? undefined : faultOf(url.replaceAll("{region}", "region"));
    if (fault !== undefined) refuse(keys, fault);
    return url;
  };
  const base = read(entry.base_url, "base_url");
  const regions: Record<string, string> = {};
  let complete = base !== undefined;
  for (const [region, template] of Object.entries(entry.region_urls)) {
    if (!entry.regions.includes(region)) refuse(["region_urls", region], `is none of ${entry.id}'s regions`);
    const url = read(template, "region_urls", region);
    if (url === undefined) complete = false;
    else regions[region] = url;
  }
  const proxy = proxyOf(entry, environment, { refuse, missing });
  if (base === undefined || proxy === undefined || !complete) return undefined;
  return { base, regions: Object.freeze(regions), proxy: proxy.own };
}

/** Undefined when it needs an unset variable: then the provider is not called at all, rather than directly. */
function proxyOf(
  { proxy: written }: ProviderEntry,
  environment: Environment,
  { refuse, missing }: { readonly refuse: Refuse; readonly missing: Set<string> },
): { readonly own: Provider["proxy"] } | undefined {
  if (written === undefined) return { own: undefined };
  const text = expand(written, environment, missing);
  if (text === undefined) return undefined;
  if (/^(?:direct|none)$/i.test(text.trim())) return { own: "direct" };
  try {
    return { own: readProxyAddress(text) };
  } catch (error) {
    refuse(["proxy"], (error as Error).message);
    return undefined;
  }
}

function provider(
  entry: ProviderEntry,
  urls: Urls | undefined,
  keys: readonly ProviderKey[],
  { env, missing, variables }: ReadVariables,
): Provider {
  // Without any credential the provider gets one key without a credential, if it accepts such calls.
  const pool = keys.length > 0 || needsCredential(entry) ? keys : [platformKey(entry.id, 1, undefined)];
  const reachable = urls !== undefined && pool.length > 0;
  return Object.freeze({
    id: entry.id,
    name: entry.name,
    baseUrl: urls?.base ?? "",
    regionUrls: urls?.regions ?? {},
    proxy: urls?.proxy,
    dialects: Object.freeze([...entry.dialects]),
    paths: Object.freeze(entry.paths) as NonNullable<Provider["paths"]>,
    headers: Object.freeze({ ...entry.headers }),
    auth: Object.freeze(authOf(entry, env)),
    credentialEnv: Object.freeze([...entry.credential_env]),
    keys: Object.freeze([...pool]),
    simulated: entry.simulated,
    dataPolicy: dataPolicyOf(entry.data_policy),
    regions: Object.freeze([...entry.regions]),
    termsUrl: entry.terms_url,
    verifiedAt: entry.verified_at,
    missing: Object.freeze(missing),
    variables: Object.freeze(variables),
    isSwitchedOff: entry.status === "inactive",
    status: entry.status === "active" && reachable ? "active" : "inactive",
    quirks: quirksOf(entry),
    serverTools: Object.freeze(entry.server_tools),
  });
}

export const dataPolicyOf = (p: ProviderEntry["data_policy"]): DataPolicy =>
  Object.freeze({ trains: p.trains, retentionDays: p.retention_days, zdr: p.zdr });

function authOf({ auth }: ProviderEntry, env: Variables): Auth {
  if (typeof auth === "object") return { scheme: "header", header: auth.header };
  if (auth !== "aws_sigv4") return { scheme: auth };
  const region = setting(env, "AWS_REGION") ?? setting(env, "AWS_DEFAULT_REGION") ?? "us-east-1";
  return { scheme: "aws_sigv4", service: "bedrock", region };
}

const quirksOf = ({ quirks }: ProviderEntry): ProviderQuirks =>
  Object.freeze({
    streamUsage: quirks.stream_usage,
    maxTokensField: quirks.max_tokens_field,
    billsAfterDisconnect: quirks.bills_after_disconnect,
    bodies: Object.freeze(quirks.bodies) as Partial<Record<Dialect, BodyQuirks>>,
  });

const NAMED = /\$\{([A-Z][A-Z0-9_]*)\}/g;

const settingOf = (name: string, { env, simulatorUrl }: Environment): string | undefined =>
  name === "SIMULATOR_URL" ? simulatorUrl : env[name]?.trim();

/** Replaces `${NAME}`; undefined when a variable is unset, which is added to `missing`. */
function expand(template: string, environment: Environment, missing: Set<string>): string | undefined {
  let complete = true;
  const url = template.replaceAll(NAMED, (_, name: string) => {
    const value = settingOf(name, environment);
    if (!value) {
      complete = false;
      missing.add(name);
    }
    return value?.replace(/\/$/, "") ?? "";
  });
  return complete ? url : undefined;
}

/** Describes the fault of a base URL. The text does not repeat the URL, because it may contain a secret. */
function faultOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return "is no http or https URL";
  if (parsed.username !== "" || parsed.password !== "") return "must hold no credential; use credential_env";
  if (parsed.search !== "" || parsed.hash !== "") return "must have no query and no fragment";
  if (url.endsWith("/")) return "must not end in a slash; the dialect's path is appended";
  return undefined;
}
