/** Which logs an org has, in the order of their beginnings, and how many bytes they are. */

/** What a log takes beside its events. About. */
const LOG_BYTES = 2048;

interface OrgSum {
  readonly logs: Map<string, number>;
  bytes: number;
}

export class OrgLogs {
  /** What all orgs have together. */
  bytes = 0;
  readonly #orgs = new Map<string, OrgSum>();

  add(orgId: string, id: string): void {
    const org = this.#orgs.get(orgId) ?? { logs: new Map<string, number>(), bytes: 0 };
    this.#orgs.set(orgId, org);
    org.logs.set(id, 0);
    this.#add(org, LOG_BYTES);
  }

  /** @param bytes of the log's events now */
  count(orgId: string, id: string, bytes: number): void {
    const org = this.#orgs.get(orgId);
    const before = org?.logs.get(id);
    if (org === undefined || before === undefined) return;
    org.logs.set(id, bytes);
    this.#add(org, bytes - before);
  }

  remove(orgId: string, id: string): void {
    const org = this.#orgs.get(orgId);
    const before = org?.logs.get(id);
    if (org === undefined || before === undefined) return;
    org.logs.delete(id);
    this.#add(org, -before - LOG_BYTES);
    if (org.logs.size === 0) this.#orgs.delete(orgId);
  }

  bytesOf(orgId: string): number {
    return this.#orgs.get(orgId)?.bytes ?? 0;
  }

  /** Ids of an org's logs, the oldest first. Lazily: what is removed meanwhile is left out. */
  *of(orgId: string): Generator<string> {
    yield* this.#orgs.get(orgId)?.logs.keys() ?? [];
  }

  #add(org: OrgSum, bytes: number): void {
    org.bytes += bytes;
    this.bytes += bytes;
  }
}
