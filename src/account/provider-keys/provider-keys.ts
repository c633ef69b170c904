/**
 * Every org's own provider keys in memory, decrypted; a call looks up its org's once and keeps them to its end. Loaded
 * at the start; an org's keys are reloaded when one of its rows changes, before that change is answered, so the next
 * call sees it.
 */
import type { Credential, Endpoint, Model, Provider, ProviderKey } from "../../base/endpoint.ts";
import { ownKey } from "../../base/provider-key.ts";
import type { AccountTables } from "../tables.ts";
import { credentialFrom, type ProviderKeyRow, type ProviderKeyStatus } from "./provider-key.ts";
import type { Vault, VaultOwner } from "./vault.ts";

export interface ProviderKeysOptions {
  readonly accounts: AccountTables;
  readonly vault: Vault;
  /** Called at the start for every key that cannot be decrypted. Calls go on without it. */
  readonly onUnreadable: (row: Pick<ProviderKeyRow, "id" | "orgId" | "providerId">) => void;
}

export class ProviderKeys {
  readonly #vault: Vault;
  readonly #orgs = new Map<string, OrgKeys>();
  /** Readable keys of all orgs, by provider. */
  readonly #counts = new Map<string, number>();
  /** Ids of rows that cannot be decrypted. */
  readonly #unreadable = new Set<string>();

  constructor({ accounts, vault, onUnreadable }: ProviderKeysOptions) {
    this.#vault = vault;
    accounts.watch({ providerKey: (orgId) => this.#read(orgId, accounts.providerKeysOf(orgId)) });
    for (const [orgId, rows] of Map.groupBy(accounts.allProviderKeys(), (row) => row.orgId)) {
      this.#read(orgId, rows);
      for (const row of rows) if (this.#unreadable.has(row.id)) onUnreadable(row);
    }
  }

  /** The keys of an org; undefined where it has none: one look-up. */
  of(orgId: string): OrgKeys | undefined {
    return this.#orgs.get(orgId);
  }

  /** Readable keys that orgs have of a provider. */
  countOf(providerId: string): number {
    return this.#counts.get(providerId) ?? 0;
  }

  #count(keys: OrgKeys | undefined, sign: 1 | -1): void {
    for (const [id, size] of keys?.sizes() ?? []) this.#counts.set(id, this.countOf(id) + sign * size);
  }

  /** Encrypts a credential for a row of this owner. */
  seal(credential: Credential, owner: VaultOwner): Uint8Array {
    return this.#vault.seal(JSON.stringify(credential), owner);
  }

  statusOf(row: ProviderKeyRow): ProviderKeyStatus {
    return this.#unreadable.has(row.id) ? "unreadable" : "active";
  }

  #read(orgId: string, rows: readonly ProviderKeyRow[]): void {
    const before = this.#orgs.get(orgId);
    this.#count(before, -1);
    if (rows.length === 0) {
      this.#orgs.delete(orgId);
      return;
    }
    const pools = new Map<string, Pool>();
    // Oldest first, so that a key keeps its position in the pool.
    for (const [providerId, own] of Map.groupBy(rows.toReversed(), (row) => row.providerId)) {
      // Rows never change, so the key object is reused: upstream connections and health refer to it.
      const keys = own.flatMap((row) => before?.keyOf(providerId, row.id) ?? this.#decrypted(row) ?? []);
      pools.set(providerId, { keys, platformFallback: own.every((row) => row.platformFallback) });
    }
    const after = new OrgKeys(pools);
    this.#count(after, 1);
    this.#orgs.set(orgId, after);
  }

  #decrypted(row: ProviderKeyRow): ProviderKey | undefined {
    const text = this.#vault.open(row.sealed, row);
    const credential = text === undefined ? undefined : credentialFrom(text);
    if (credential === undefined) {
      this.#unreadable.add(row.id);
      return undefined;
    }
    return ownKey(row.id, row.providerId, credential);
  }
}

interface Pool {
  readonly keys: readonly ProviderKey[];
  readonly platformFallback: boolean;
}

const NO_KEYS: readonly ProviderKey[] = Object.freeze([]);

/** The keys of one org; immutable, replaced on change. */
export class OrgKeys {
  readonly #pools: ReadonlyMap<string, Pool>;
  /** By the catalog's model; entries go with their snapshot. */
  readonly #models = new WeakMap<Model, Model>();

  constructor(pools: ReadonlyMap<string, Pool>) {
    this.#pools = pools;
  }

  /** The org's pool for a provider; empty without a readable key. */
  of(providerId: string): readonly ProviderKey[] {
    return this.#pools.get(providerId)?.keys ?? NO_KEYS;
  }

  /** Number of readable keys by provider. */
  *sizes(): Iterable<readonly [providerId: string, keys: number]> {
    for (const [id, { keys }] of this.#pools) yield [id, keys.length];
  }

  keyOf(providerId: string, id: string): ProviderKey | undefined {
    return this.of(providerId).find((key) => key.id === id);
  }

  /** False where one of its keys for the provider, readable or not, forbids the platform's credential. */
  platformFallback(providerId: string): boolean {
    return this.#pools.get(providerId)?.platformFallback ?? true;
  }

  /**
   * The model with the endpoints the org can reach: also those that lack a platform credential, and without those where
   * neither its own keys nor the platform's may be used. Computed once per model of a catalog snapshot.
   * @param unreachable the catalog's list for the model.
   */
  modelFor(model: Model, unreachable: readonly Endpoint[]): Model {
    let own = this.#models.get(model);
    if (own === undefined) {
      own = this.#modelFor(model, unreachable);
      this.#models.set(model, own);
    }
    return own;
  }

  #modelFor(model: Model, unreachable: readonly Endpoint[]): Model {
    const kept = model.endpoints.filter(
      ({ provider: { id } }) => this.#reaches(id) || this.platformFallback(id),
    );
    const added = unreachable
      .filter(({ provider }) => this.#reaches(provider.id) && lacksOnlyKey(provider))
      .map(opened);
    if (added.length === 0 && kept.length === model.endpoints.length) return model;
    const endpoints = Object.freeze([...kept, ...added]);
    if (endpoints.length === 0) return Object.freeze({ ...model, endpoints });
    return Object.freeze({
      ...model,
      contextLength: Math.max(...endpoints.map((e) => e.contextLength)),
      maxOutput: Math.max(...endpoints.map((e) => e.maxOutput)),
      endpoints,
    });
  }

  #reaches(providerId: string): boolean {
    return this.of(providerId).length > 0;
  }
}

/** The provider has an address, and was not disabled despite having a credential. */
const lacksOnlyKey = ({ baseUrl, keys, isSwitchedOff }: Provider): boolean =>
  baseUrl !== "" && keys.length === 0 && isSwitchedOff !== true;

/** Endpoints activated by own keys: one object for all orgs, so that per-endpoint caches are shared. */
const openedOnce = new WeakMap<Endpoint, Endpoint>();

function opened(endpoint: Endpoint): Endpoint {
  let copy = openedOnce.get(endpoint);
  if (copy === undefined) {
    const provider: Provider = Object.freeze({ ...endpoint.provider, status: "active", keys: NO_KEYS });
    copy = Object.freeze({ ...endpoint, provider });
    openedOnce.set(endpoint, copy);
  }
  return copy;
}
