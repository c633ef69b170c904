/**
 * Responses that clients may ask for again or continue (`store`, `previous_response_id`). One is kept in the commit that
 * settles its call, for its project and environment alone, as long as the org keeps payloads, thirty days at the most.
 */
import type { KeyContext } from "../account/keyring.ts";
import type { Clock } from "../clock.ts";
import { fail } from "../errors.ts";
import { type ExpiringTable, openExpiringTable } from "../store/expiring-table.ts";
import type { Store, Table } from "../store/store.ts";
import type { ClientRequest, History } from "../wire/format.ts";
import type { Call } from "./call.ts";

const DAY_MS = 86_400_000;
const KEEP_DAYS = 30;

export interface StoredResponse {
  /** As delivered, JSON text. */
  readonly response: string;
  /** The endpoint that gave the answer. */
  readonly endpointId: string;
  readonly provider: string;
  /** Id of the provider key that it was made with: what is sealed in it can be read with that one only. */
  readonly keyId: string;
  /** Of the items of its output. */
  readonly itemIds: readonly string[];
  /** The conversation up to and with it: JSON text of items, the inside of an array. */
  readonly items: string;
  readonly expiresMs: number;
}

/** Whose responses are meant: a key's project, and whether it is a test key. */
export type ResponseOwner = Pick<KeyContext, "projectId" | "environment">;

/** Test keys see, continue and delete responses of test calls only, live keys those of live calls only. */
const ownerOf = ({ projectId, environment }: ResponseOwner): string =>
  environment === "test" ? `${projectId}/test` : projectId;

export interface StoredResponsesDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Of response and items together; larger ones are not kept. */
  readonly maxBytes: number;
  /** Called with the error of a sweep that failed. */
  readonly onFailure: (error: unknown) => void;
}

export class StoredResponses {
  readonly #deps: StoredResponsesDeps;
  /** `[owner, id]`. */
  readonly #responses: ExpiringTable<StoredResponse>;
  /** `[owner, item]`: the response that contains the item. */
  readonly #items: Table<string>;

  constructor(deps: StoredResponsesDeps) {
    this.#deps = deps;
    const { store, clock, onFailure } = deps;
    this.#items = store.table("response_items");
    this.#responses = openExpiringTable({
      ...{ store, clock, onFailure, rows: "responses", periods: "response_days", periodMs: DAY_MS },
      onRemove: ([owner = ""], { itemIds }) => {
        for (const item of itemIds) this.#items.remove([owner, item]);
      },
    });
  }

  get(owner: ResponseOwner, id: string): StoredResponse | undefined {
    const found = this.#responses.get([ownerOf(owner), id]);
    return found === undefined || found.expiresMs <= this.#deps.clock.now() ? undefined : found;
  }

  /** What a request continues. @throws WeirError 404 where there is no such response, or none any more. */
  previous(owner: ResponseOwner, id: string): StoredResponse {
    const found = this.get(owner, id);
    if (found !== undefined) return found;
    throw fail("not_found", `There is no stored response "${id.slice(0, 100)}".`, {
      param: "/previous_response_id",
    });
  }

  /** Id of the response that has an item; undefined where none is kept. */
  responseWith(owner: ResponseOwner, itemId: string): string | undefined {
    return this.#items.get([ownerOf(owner), itemId]);
  }

  /** Whether a conversation of so many bytes may be small enough. */
  fits(bytes: number): boolean {
    return bytes <= this.#deps.maxBytes;
  }

  /** Only inside a commit. */
  put(key: KeyContext, id: string, stored: Omit<StoredResponse, "expiresMs">): void {
    const { response, items } = stored;
    if (!this.fits(Buffer.byteLength(response) + Buffer.byteLength(items))) return;
    const days = Math.min(KEEP_DAYS, key.dataPolicy.retentionDays);
    const expiresMs = this.#deps.clock.now() + days * DAY_MS;
    const owner = ownerOf(key);
    this.#responses.put([owner, id], { ...stored, expiresMs }, expiresMs);
    for (const item of stored.itemIds) this.#items.put([owner, item], id);
  }

  /** True where there was one. */
  async remove(owner: ResponseOwner, id: string): Promise<boolean> {
    if (this.get(owner, id) === undefined) return false;
    await this.#deps.store.act(() => this.#responses.remove([ownerOf(owner), id]));
    return true;
  }

  /** Forgets all that is old. */
  sweep(): Promise<void> {
    return this.#responses.sweep();
  }

  close(): void {
    this.#responses.close();
  }
}

/** Whether an answer may be kept: its client and its org must both agree. */
export function mayKeep(call: Call, history: History, request: ClientRequest): boolean {
  const { logging, retentionDays } = call.key.dataPolicy;
  return !call.isZdr && logging === "on" && retentionDays > 0 && history.keeps(request);
}
