/**
 * What `oidc-provider` keeps: sessions, sign-ins under way, codes, grants, tokens. In memory, bounded in number, and gone
 * when its time is over or the process ends; nothing runs in the background.
 */
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";
import type { Clock } from "../../src/base/clock.ts";

interface Entry {
  /** The entry as JSON: a caller that changes the object it got does not change the entry by that. */
  json: string;
  /** When it expires, in the clock's wall time. */
  readonly untilMs: number;
  readonly uid: string | undefined;
  readonly grantId: string | undefined;
}

/** Entries of each kind; the oldest goes first. An entry has at most the size of a request's head: 16 KB. */
const MAX_ENTRIES = 1_000;

/** A store of its own for each kind. */
export const expiringAdapters =
  (clock: Clock): AdapterFactory =>
  () =>
    new ExpiringAdapter(clock);

class ExpiringAdapter implements Adapter {
  /** In the order of their last change. */
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async upsert(id: string, payload: AdapterPayload, expiresInS?: number): Promise<void> {
    const untilMs =
      expiresInS === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() + expiresInS * 1000;
    this.#entries.delete(id);
    this.#entries.set(id, {
      json: JSON.stringify(payload),
      untilMs,
      uid: payload.uid,
      grantId: payload.grantId,
    });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      this.#entries.delete(oldest);
    }
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    if (entry.untilMs > this.#clock.now()) return JSON.parse(entry.json);
    this.#entries.delete(id);
    return undefined;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    for (const [id, entry] of this.#entries) if (entry.uid === uid) return this.find(id);
    return undefined;
  }

  /** Only the device flow has user codes, and it is off. */
  async findByUserCode(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const consumed = Math.floor(this.#clock.now() / 1000);
    entry.json = JSON.stringify({ ...JSON.parse(entry.json), consumed });
  }

  async destroy(id: string): Promise<void> {
    this.#entries.delete(id);
  }

  /** Called for each kind that a grant has. */
  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, entry] of this.#entries) if (entry.grantId === grantId) this.#entries.delete(id);
  }
}
