/**
 * What changed in each model, for its page. A load of the catalog is compared with what the store knows of the load before;
 * the differences are stored in the act that assigns the price versions, so that each is written once, whatever is killed
 * when. A price that is announced for later is written when it becomes known, and not again when it comes into force.
 */
import type { Clock } from "../../base/clock.ts";
import type { Store, Table } from "../../store/store.ts";
import { type Change, changesOf, type KnownModel, leftModel, pastOf, unannounced } from "./changes.ts";
import type { PriceVersions } from "./price-versions.ts";

export interface ChangelogEntry extends Change {
  /** Grows with time. */
  readonly id: number;
  /** When it became known. */
  readonly createdMs: number;
}

export interface Changelog {
  /**
   * Writes what differs from the load before. Only in an act, once a load's price versions are assigned in it.
   * @param added endpoints that had no price before this load
   */
  note(models: ReadonlyMap<string, KnownModel>, added: ReadonlySet<string>): void;
  /** Newest first, at most 100. */
  of(modelId: string): ChangelogEntry[];
}

/** Entries that are kept of each model. */
const MOST_ENTRIES = 100;
/** After that, what is known of a model that the files no longer have is forgotten. */
const GONE_MS = 400 * 24 * 3600 * 1000;
/** Ids are milliseconds with ten bits for those of one millisecond: exact until the year 2248. */
const IDS_PER_MS = 1024;

interface KnownRow extends KnownModel {
  /** Since when the files no longer have it. */
  readonly goneMs?: number;
}

interface Tables {
  readonly known: Table<KnownRow>;
  readonly entries: Table<ChangelogEntry>;
  readonly ids: Table<number>;
}

export function storedChangelog(
  store: Store,
  clock: Clock,
  { history }: Pick<PriceVersions, "history">,
): Changelog {
  const tables: Tables = {
    known: store.table("catalog.known_models"),
    entries: store.table("catalog.changelog"),
    ids: store.table("catalog.changelog_ids"),
  };
  return {
    note(models, added) {
      const load = new Load(tables, clock.now());
      for (const [modelId, model] of models) {
        const before = tables.known.get(modelId);
        // Release 0.1 had no changelog, only the versions of prices.
        if (before === undefined) load.addPast(modelId, pastOf(model, history, added));
        load.add(modelId, changesOf(before ?? unannounced(model), model, load.nowMs));
        if (JSON.stringify(before) !== JSON.stringify(model)) tables.known.put(modelId, model);
      }
      for (const { key, value } of [...tables.known.range()]) {
        if (!models.has(String(key))) load.leave(String(key), value);
      }
    },
    of: (modelId) =>
      [...newestFirst(tables.entries, modelId)].map(({ value }) => value).slice(0, MOST_ENTRIES),
  };
}

const newestFirst = (entries: Tables["entries"], modelId: string) =>
  entries.range({ start: [modelId, Number.MAX_SAFE_INTEGER], end: [modelId, 0], reverse: true });

/** One load of the catalog, in its act. */
class Load {
  readonly nowMs: number;
  readonly #tables: Tables;

  constructor(tables: Tables, nowMs: number) {
    this.#tables = tables;
    this.nowMs = nowMs;
  }

  add(modelId: string, changes: readonly Change[]): void {
    for (const change of changes) {
      const id = Math.max((this.#tables.ids.get("last") ?? 0) + 1, this.nowMs * IDS_PER_MS);
      this.#put(modelId, { ...change, id, createdMs: this.nowMs });
    }
    if (changes.length > 0) this.#trim(modelId);
  }

  /** What the history of prices tells of a model that the changelog has not met. */
  addPast(modelId: string, past: ReturnType<typeof pastOf>): void {
    for (const { serial, ...change } of past) {
      const id = change.effectiveMs * IDS_PER_MS + serial;
      this.#put(modelId, { ...change, id, createdMs: change.effectiveMs });
    }
    this.#trim(modelId);
  }

  /** The files no longer have the model. */
  leave(modelId: string, known: KnownRow): void {
    if (known.goneMs === undefined) {
      const gone = leftModel(known);
      this.add(modelId, changesOf(known, gone, this.nowMs));
      this.#tables.known.put(modelId, { ...gone, goneMs: this.nowMs });
    } else if (this.nowMs - known.goneMs > GONE_MS) {
      this.#tables.known.remove(modelId);
      for (const { key } of [...newestFirst(this.#tables.entries, modelId)]) this.#tables.entries.remove(key);
    }
  }

  #put(modelId: string, entry: ChangelogEntry): void {
    this.#tables.entries.put([modelId, entry.id], entry);
    this.#tables.ids.put("last", Math.max(this.#tables.ids.get("last") ?? 0, entry.id));
  }

  #trim(modelId: string): void {
    const old = [...newestFirst(this.#tables.entries, modelId)].slice(MOST_ENTRIES);
    for (const { key } of old) this.#tables.entries.remove(key);
  }
}
