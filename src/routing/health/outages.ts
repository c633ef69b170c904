/**
 * Which orgs are to hear that an endpoint is down: those whose calls it failed just before, and those that meet it while it is
 * down; each once for an outage. In memory, and bounded. Only failures are noted: a good call does not come here.
 */
import type { Outage } from "./health.ts";

/** Orgs that are noted at an endpoint, and those that are told of one outage. */
const MOST_ORGS = 1_000;
const MOST_ENDPOINTS = 10_000;
/** Whose calls failed so long before the endpoint was found to be down are told of it. */
const JUST_BEFORE_MS = 60_000;

interface Met {
  /** Org → its newest failure there, oldest first. */
  readonly failedAtMs: Map<string, number>;
  /** Undefined: the endpoint was not down when it was last met. */
  outage: { readonly sinceMs: number; readonly told: Set<string> } | undefined;
}

/** Orgs to tell, and since when the endpoint is down; monotonic. */
export interface News {
  readonly orgIds: readonly string[];
  readonly sinceMs: number;
}

export class Outages {
  readonly #met = new Map<string, Met>();

  /** The org's call failed at the endpoint. @returns undefined: nobody is to be told */
  missed(endpointId: string, orgId: string, outage: Outage | undefined, nowMs: number): News | undefined {
    const met = this.#of(endpointId);
    note(met.failedAtMs, orgId, nowMs);
    if (outage === undefined) {
      met.outage = undefined;
      return undefined;
    }
    const { sinceMs = met.outage?.sinceMs ?? nowMs } = outage;
    const isNew = met.outage?.sinceMs !== sinceMs;
    if (isNew) met.outage = { sinceMs, told: new Set() };
    const { told } = met.outage as NonNullable<Met["outage"]>;
    const orgIds = isNew
      ? [...met.failedAtMs].flatMap(([id, atMs]) => (nowMs - atMs <= JUST_BEFORE_MS ? id : []))
      : [orgId].filter((id) => !told.has(id) && told.size < MOST_ORGS);
    for (const id of orgIds) told.add(id);
    return orgIds.length === 0 ? undefined : { orgIds, sinceMs };
  }

  #of(endpointId: string): Met {
    let met = this.#met.get(endpointId);
    if (met === undefined) {
      if (this.#met.size >= MOST_ENDPOINTS) this.#met.clear();
      met = { failedAtMs: new Map(), outage: undefined };
      this.#met.set(endpointId, met);
    }
    return met;
  }
}

/** The newest last; the oldest gives way. */
function note(failedAtMs: Map<string, number>, orgId: string, nowMs: number): void {
  failedAtMs.delete(orgId);
  failedAtMs.set(orgId, nowMs);
  if (failedAtMs.size <= MOST_ORGS) return;
  const [oldest] = failedAtMs.keys();
  if (oldest !== undefined) failedAtMs.delete(oldest);
}
