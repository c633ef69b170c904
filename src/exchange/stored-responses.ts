/**
 * Responses that clients may read or continue (`store`, `previous_response_id`). A response is stored in the commit that
 * settles its call, for its project and environment only, as long as the org keeps payloads, at most thirty days.
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
  /** The response as delivered, JSON text. */
  readonly response: string;
  /** The endpoint that answered. */
  readonly endpointId: string;
  readonly provider: string;
  /** Id of the provider key that it was made with: only with that key can its sealed content be read. */
  readonly keyId: string;
  /** Ids of the items of its output. */
  readonly itemIds: readonly string[];
  /** The conversation including this response: JSON text of items, without the brackets of the array. */
  readonly items: string;
  readonly expiresMs: number;
}

/** The owner of responses: a key's project, and whether it is a test key. */
export type ResponseOwner = Pick<KeyContext, "projectId" | "environment">;

/** Test keys read, continue and delete only responses of test calls, live keys only those of live calls. */
const ownerOf = ({ projectId, environment }: ResponseOwner): string =>
  environment === "test" ? `${projectId}/test` : projectId;

export interface StoredResponsesDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Maximum bytes of response and items together; larger ones are not stored. */
  readonly maxBytes: number;
  /** Called with the error of a failed sweep. */
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

  /** The response that a request continues. @throws WeirError 404 if there is none, or it has expired */
  previous(owner: ResponseOwner, id: string): StoredResponse {
    const found = this.get(owner, id);
    if (found !== undefined) return found;
    throw fail("not_found", `There is no stored response "${id.slice(0, 100)}".`, {
      param: "/previous_response_id",
    });
  }

  /** Id of the response that has an item; undefined if none is stored. */
  responseWith(owner: ResponseOwner, itemId: string): string | undefined {
    return this.#items.get([ownerOf(owner), itemId]);
  }

  /** Whether a conversation of so many bytes may be stored. */
  fits(bytes: number): boolean {
    return bytes <= this.#deps.maxBytes;
  }

  /** Stores a response; call it only inside a commit. */
  put(key: KeyContext, id: string, stored: Omit<StoredResponse, "expiresMs">): void {
    const { response, items } = stored;
    if (!this.fits(Buffer.byteLength(response) + Buffer.byteLength(items))) return;
    const days = Math.min(KEEP_DAYS, key.dataPolicy.retentionDays);
    const expiresMs = this.#deps.clock.now() + days * DAY_MS;
    const owner = ownerOf(key);
    this.#responses.put([owner, id], { ...stored, expiresMs }, expiresMs);
    for (const item of stored.itemIds) this.#items.put([owner, item], id);
  }

  /** @returns whether there was one */
  async remove(owner: ResponseOwner, id: string): Promise<boolean> {
    if (this.get(owner, id) === undefined) return false;
    await this.#deps.store.act(() => this.#responses.remove([ownerOf(owner), id]));
    return true;
  }

  /** Only in an act: removes all responses of a project. @returns whether more are left */
  erase(projectId: string, most: number): boolean {
    return [projectId, `${projectId}/test`].some((owner) => this.#responses.removeMembers([owner], most));
  }

  /** Deletes expired responses. */
  sweep(): Promise<void> {
    return this.#responses.sweep();
  }

  close(): void {
    this.#responses.close();
  }
}

/** Whether an answer may be stored: both its client and its org must allow it. */
export function mayKeep(call: Call, history: History, request: ClientRequest): boolean {
  const { logging, retentionDays } = call.key.dataPolicy;
  return !call.isZdr && logging === "on" && retentionDays > 0 && history.keeps(request);
}
