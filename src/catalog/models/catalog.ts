/**
 * The catalog: an immutable snapshot that a call takes once and keeps, and the means to replace it. A reload that finds
 * any problem changes nothing: the last good snapshot stays.
 */
import { type Clock, systemClock, systemTimers, type Timers } from "../../base/clock.ts";
import { type Problem, problemText } from "../../base/document/document.ts";
import type { Endpoint, Model, Provider } from "../../base/endpoint.ts";
import { buildDraft, type CatalogDraft, type EndpointDraft, type ModelDraft } from "./build.ts";
import type { Changelog } from "./changelog.ts";
import { readCatalogFiles } from "./files.ts";
import { knownModels } from "./known-models.ts";
import { type ModelNames, modelNames } from "./model-names.ts";
import type { CurrentVersion, PriceVersions } from "./price-versions.ts";
import type { Environment } from "./providers.ts";
import type { Readings } from "./readings.ts";
import { announcedPrices, pricedAt, pricesAt, Schedule, type ScheduledPrice } from "./schedule.ts";

export interface CatalogOptions extends Environment {
  /** Folder with `providers.yaml` and `models/*.yaml`. */
  readonly configDir: string;
  readonly priceVersions: PriceVersions;
  /** Without it no changes are written. */
  readonly changelog?: Pick<Changelog, "note">;
  readonly clock?: Clock;
  readonly timers?: Timers;
  /** Dated prices could not be put in force; it is tried again every second. */
  readonly onFailure?: (error: unknown) => void;
  /** What the gateways of one installation tell each other. Default: there is one alone. */
  readonly readings?: Readings;
  /** Told of each time that the files are read because another gateway has read its own. */
  readonly onFollowing?: (followed: Promise<Followed>) => void;
}

export interface CatalogSnapshot extends ModelNames {
  /** Every model of the files by full id, including those without an active endpoint. */
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** Endpoints of a model that this gateway cannot reach: no credential, no address, or a provider switched off. */
  unreachable(modelId: string): readonly Endpoint[];
  /** When the endpoint's prices last changed (milliseconds since 1970); undefined when they never did. */
  priceChangedMs(endpointId: string): number | undefined;
  /** The endpoint's dated prices that are not in force yet, the earliest first. */
  scheduledPrices(endpointId: string): readonly ScheduledPrice[];
}

export type ReloadResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export interface Followed {
  readonly result: ReloadResult;
  /** The files of this gateway had changed, and are in force now. */
  readonly hasChanged: boolean;
  /** The files in force here are equal to those that the other gateway read. */
  readonly isSame: boolean;
}

export interface Catalog {
  current(): CatalogSnapshot;
  /** Reads the files again. Reloads run one after another, so that the last one requested wins. */
  reload(): Promise<ReloadResult>;
  /** Puts no more dated prices in force. */
  close(): void;
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
 * Reads, checks and prices the catalog, by the dated prices of now. New price versions are durable before it resolves.
 * @throws CatalogError with all problems.
 */
export async function loadCatalog(options: CatalogOptions): Promise<CatalogSnapshot> {
  const { draft } = await readDraft(options);
  return priced(draft, (options.clock ?? systemClock).now(), options);
}

/** The files as they were read. */
interface Read {
  readonly draft: CatalogDraft;
  /** Digest of the files. */
  readonly content: string;
}

/** @throws CatalogError with all problems. */
async function readDraft(options: CatalogOptions): Promise<Read> {
  const files = await readCatalogFiles(options.configDir);
  if (!files.ok) throw new CatalogError(files.problems);
  const draft = await buildDraft(files.value, options);
  if (!draft.ok) throw new CatalogError(draft.problems);
  return { draft: draft.value, content: files.value.content };
}

/**
 * The draft with the prices in force at `nowMs`, whose versions and changes are stored in one act.
 * @param also runs in that act
 */
async function priced(
  draft: CatalogDraft,
  nowMs: number,
  { priceVersions, changelog }: CatalogOptions,
  also = () => {},
): Promise<CatalogSnapshot> {
  const endpoints = draft.models.flatMap((model) => model.endpoints.map((e) => pricedAt(e, nowMs)));
  const beside = (added: ReadonlySet<string>) => {
    changelog?.note(knownModels(draft, nowMs), added);
    also();
  };
  return snapshotOf(draft, await priceVersions.assign(endpoints, beside), nowMs);
}

/** Loads the catalog and keeps it replaceable. @throws CatalogError when the first load fails. */
export async function openCatalog(options: CatalogOptions): Promise<Catalog> {
  const { clock = systemClock, timers = systemTimers, onFailure = () => {}, readings } = options;
  let read = await readDraft(options);
  let current: CatalogSnapshot;
  const schedule = new Schedule({
    clock,
    timers,
    onFailure,
    reprice: () => inTurn(() => putInForce(read)),
  });
  const putInForce = async (next: Read, also = () => {}): Promise<void> => {
    const nowMs = schedule.now();
    current = await priced(next.draft, nowMs, options, also);
    read = next;
    schedule.watch(read.draft, nowMs);
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = last.then(act, act);
    last = turn;
    return turn;
  };
  const reloadBy = async (load: (next: Read) => Promise<void>): Promise<ReloadResult> => {
    try {
      await load(await readDraft(options));
      return { ok: true };
    } catch (error) {
      if (error instanceof CatalogError) return { ok: false, problems: error.problems };
      throw error;
    }
  };
  // A gateway that starts tells the others only where its files differ from those that any gateway read last.
  await putInForce(read, () => readings?.note(read.content, false));
  const follow = async (content: string): Promise<Followed> => {
    const before = read.content;
    const load = async (next: Read) => {
      if (next.content !== before) await putInForce(next);
    };
    const result: ReloadResult = content === before ? { ok: true } : await reloadBy(load);
    return { result, hasChanged: read.content !== before, isSame: read.content === content };
  };
  readings?.watch((content) => {
    // What this gateway noted itself is in force once this turn runs, so its files are not read again.
    const followed = inTurn(() => follow(content));
    followed.catch(() => {});
    options.onFollowing?.(followed);
  });
  return {
    current: () => current,
    reload: () =>
      inTurn(() => reloadBy((next) => putInForce(next, () => readings?.note(next.content, true)))),
    close: () => schedule.close(),
  };
}

function snapshotOf(
  draft: CatalogDraft,
  versions: ReadonlyMap<string, CurrentVersion>,
  nowMs: number,
): CatalogSnapshot {
  const unreachable = new Map<string, readonly Endpoint[]>();
  const models = new Map<string, Model>();
  const scheduled = new Map<string, readonly ScheduledPrice[]>();
  for (const drafted of draft.models) {
    for (const endpoint of drafted.endpoints) {
      const announced = announcedPrices(endpoint, nowMs, versionOf(endpoint, versions));
      if (announced.length > 0) scheduled.set(endpoint.endpoint.id, announced);
    }
    const all = drafted.endpoints.map((e) => endpointOf(e, nowMs, versionOf(e, versions)));
    const reachable = all.filter((e) => e.provider.status === "active");
    unreachable.set(
      drafted.entry.id,
      all.filter((e) => e.provider.status !== "active"),
    );
    models.set(drafted.entry.id, modelOf(drafted, reachable));
  }
  return Object.freeze({
    ...modelNames(models),
    models,
    providers: draft.providers,
    unreachable: (modelId: string) => unreachable.get(modelId) ?? [],
    priceChangedMs: (endpointId: string) => versions.get(endpointId)?.changedMs,
    scheduledPrices: (endpointId: string) => scheduled.get(endpointId) ?? [],
  });
}

function versionOf({ endpoint }: EndpointDraft, versions: ReadonlyMap<string, CurrentVersion>): string {
  const version = versions.get(endpoint.id)?.version;
  if (version === undefined) throw new Error(`no price version was assigned to ${endpoint.id}`);
  return version;
}

function endpointOf(draft: EndpointDraft, nowMs: number, version: string): Endpoint {
  const { prices, listPrices } = pricesAt(draft, nowMs);
  return Object.freeze({
    ...draft.endpoint,
    prices: Object.freeze({ version, ...prices }),
    listPrices: Object.freeze({ version, ...listPrices }),
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
    aliases: Object.freeze([...entry.aliases]),
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
