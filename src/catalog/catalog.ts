/**
 * The catalog: an immutable snapshot that a call takes once and keeps, and the means to replace it. A reload that finds
 * any problem changes nothing: the last good snapshot stays.
 */
import { type Problem, problemText } from "../document/document.ts";
import type { Endpoint, Model, Provider } from "../endpoint.ts";
import { buildDraft, type CatalogDraft, type ModelDraft } from "./build.ts";
import { readCatalogFiles } from "./files.ts";
import type { CurrentVersion, PriceVersions } from "./price-versions.ts";
import type { Environment } from "./providers.ts";

export interface CatalogOptions extends Environment {
  /** Folder with `providers.yaml` and `models/*.yaml`. */
  readonly configDir: string;
  readonly priceVersions: PriceVersions;
}

export interface CatalogSnapshot {
  /** Every model of the files by full id, including those without an active endpoint. */
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** By `<vendor>/<model>`, or by the bare model name where only one vendor has it. Case-sensitive; one map look-up. */
  resolve(name: string): Model | undefined;
  /** Endpoints of a model that this gateway cannot reach: no credential, no address, or a provider switched off. */
  unreachable(modelId: string): readonly Endpoint[];
  /** When the endpoint's prices last changed (milliseconds since 1970); undefined when they never did. */
  priceChangedMs(endpointId: string): number | undefined;
}

type ReloadResult = { readonly ok: true } | { readonly ok: false; readonly problems: readonly Problem[] };

export interface Catalog {
  current(): CatalogSnapshot;
  /** Reads the files again. Reloads run one after another, so that the last one requested wins. */
  reload(): Promise<ReloadResult>;
}

/** The catalog's files have problems; the message lists each on its own line. */
export class CatalogError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`the catalog is refused:\n${problems.map((p) => `  ${problemText(p)}`).join("\n")}`);
    this.name = "CatalogError";
    this.problems = problems;
  }
}

/**
 * Reads, checks and prices the catalog. New price versions are durable before it resolves.
 * @throws CatalogError with all problems.
 */
export async function loadCatalog(options: CatalogOptions): Promise<CatalogSnapshot> {
  const files = await readCatalogFiles(options.configDir);
  if (!files.ok) throw new CatalogError(files.problems);
  const draft = await buildDraft(files.value, options);
  if (!draft.ok) throw new CatalogError(draft.problems);
  const priced = draft.value.models.flatMap((model) =>
    model.endpoints.map(({ endpoint, prices, listPrices }) => ({
      endpointId: endpoint.id,
      prices,
      listPrices,
      markupBps: endpoint.markupBps,
    })),
  );
  return snapshotOf(draft.value, await options.priceVersions.assign(priced));
}

/** Loads the catalog and keeps it replaceable. @throws CatalogError when the first load fails. */
export async function openCatalog(options: CatalogOptions): Promise<Catalog> {
  let current = await loadCatalog(options);
  let last: Promise<ReloadResult> = Promise.resolve({ ok: true });
  const reloadNow = async (): Promise<ReloadResult> => {
    try {
      current = await loadCatalog(options);
      return { ok: true };
    } catch (error) {
      if (error instanceof CatalogError) return { ok: false, problems: error.problems };
      throw error;
    }
  };
  return {
    current: () => current,
    reload() {
      last = last.then(reloadNow, reloadNow);
      return last;
    },
  };
}

function snapshotOf(draft: CatalogDraft, versions: ReadonlyMap<string, CurrentVersion>): CatalogSnapshot {
  const unreachable = new Map<string, readonly Endpoint[]>();
  const models = new Map<string, Model>();
  for (const drafted of draft.models) {
    const all = endpointsOf(drafted, versions);
    const reachable = all.filter((e) => e.provider.status === "active");
    unreachable.set(
      drafted.entry.id,
      all.filter((e) => e.provider.status !== "active"),
    );
    models.set(drafted.entry.id, modelOf(drafted, reachable));
  }
  const names = namesOf(models);
  return Object.freeze({
    models,
    providers: draft.providers,
    resolve: (name: string) => names.get(name),
    unreachable: (modelId: string) => unreachable.get(modelId) ?? [],
    priceChangedMs: (endpointId: string) => versions.get(endpointId)?.changedMs,
  });
}

function endpointsOf(model: ModelDraft, versions: ReadonlyMap<string, CurrentVersion>): Endpoint[] {
  return model.endpoints.map(({ endpoint, prices, listPrices }) => {
    const version = versions.get(endpoint.id)?.version;
    if (version === undefined) throw new Error(`no price version was assigned to ${endpoint.id}`);
    return Object.freeze({
      ...endpoint,
      prices: Object.freeze({ version, ...prices }),
      listPrices: Object.freeze({ version, ...listPrices }),
    });
  });
}

function modelOf({ entry, vendor, tokenizer }: ModelDraft, endpoints: readonly Endpoint[]): Model {
  // The highest limit among reachable endpoints, not among all that the files list.
  const most = (limit: (e: Endpoint) => number, otherwise: number) =>
    endpoints.length === 0 ? otherwise : Math.max(...endpoints.map(limit));
  return Object.freeze({
    id: entry.id,
    vendor,
    name: entry.name,
    task: entry.task,
    tokenizer,
    modalitiesIn: Object.freeze(
      endpoints.length === 0
        ? [...entry.modalities.in]
        : entry.modalities.in.filter((m) => endpoints.some((e) => e.modalitiesIn.includes(m))),
    ),
    modalitiesOut: Object.freeze([...entry.modalities.out]),
    contextLength: most((e) => e.contextLength, entry.context),
    maxOutput: most((e) => e.maxOutput, entry.task === "generate" ? (entry.max_output ?? 0) : 0),
    status: entry.status,
    markupBps: entry.markup_bps,
    released: entry.released,
    endpoints: Object.freeze(endpoints),
  });
}

/** Full ids, and bare names that only one vendor has. Bare names contain no slash, so the two cannot collide. */
function namesOf(models: ReadonlyMap<string, Model>): ReadonlyMap<string, Model> {
  const names = new Map<string, Model>();
  const shared = new Set<string>();
  for (const model of models.values()) {
    const bare = model.id.slice(model.vendor.length + 1);
    if (names.has(bare)) shared.add(bare);
    names.set(model.id, model);
    names.set(bare, model);
  }
  for (const bare of shared) names.delete(bare);
  return names;
}
