/**
 * Responses that clients may ask for again or continue (`store`, `previous_response_id`). One is kept in the commit that
 * settles its call, for its project and environment alone, as long as the org keeps payloads, thirty days at the most.
 */
import type { KeyContext } from "../account/keyring.ts";
import { type Clock, jumpWatch } from "../clock.ts";
import { fail } from "../errors.ts";
import type { Store, Table } from "../store/store.ts";
import type { ClientRequest, History } from "../wire/format.ts";
import type { Call } from "./call.ts";

const DAY_MS = 86_400_000;
const KEEP_DAYS = 30;
const SWEEP_MS = 10 * 60_000;
/** Forgotten at once: one commit stays small. */
const SWEEP_ROWS = 1000;

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
export type Keeper = Pick<KeyContext, "projectId" | "environment">;

/** Test keys see, continue and delete responses of test calls only, live keys those of live calls only. */
const ownerOf = ({ projectId, environment }: Keeper): string =>
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
  readonly #responses: Table<StoredResponse>;
  /** `[owner, item]`: the response that contains the item. */
  readonly #items: Table<string>;
  /** `[day, owner, id]`: the responses to delete on that day. */
  readonly #days: Table<true>;
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(deps: StoredResponsesDeps) {
    this.#deps = deps;
    this.#responses = deps.store.table("responses");
    this.#items = deps.store.table("response_items");
    this.#days = deps.store.table("response_days");
    const isSteady = jumpWatch(deps.clock);
    // What fails now is tried again with the next turn.
    this.#timer = setInterval(() => {
      if (isSteady()) void this.sweep().catch(deps.onFailure);
    }, SWEEP_MS).unref();
  }

  get(keeper: Keeper, id: string): StoredResponse | undefined {
    const found = this.#responses.get([ownerOf(keeper), id]);
    return found === undefined || found.expiresMs <= this.#deps.clock.now() ? undefined : found;
  }

  /** What a request continues. @throws WeirError 404 where there is no such response, or none any more. */
  previous(keeper: Keeper, id: string): StoredResponse {
    const found = this.get(keeper, id);
    if (found !== undefined) return found;
    throw fail("not_found", `There is no stored response "${id.slice(0, 100)}".`, {
      param: "/previous_response_id",
    });
  }

  /** Id of the response that has an item; undefined where none is kept. */
  responseWith(keeper: Keeper, itemId: string): string | undefined {
    return this.#items.get([ownerOf(keeper), itemId]);
  }

  /** Whether a conversation of so many bytes may be small enough. */
  takes(bytes: number): boolean {
    return bytes <= this.#deps.maxBytes;
  }

  /** Only inside a commit. */
  put(key: KeyContext, id: string, stored: Omit<StoredResponse, "expiresMs">): void {
    const { response, items } = stored;
    if (!this.takes(Buffer.byteLength(response) + Buffer.byteLength(items))) return;
    const days = Math.min(KEEP_DAYS, key.dataPolicy.retentionDays);
    const expiresMs = this.#deps.clock.now() + days * DAY_MS;
    const owner = ownerOf(key);
    this.#responses.put([owner, id], { ...stored, expiresMs });
    for (const item of stored.itemIds) this.#items.put([owner, item], id);
    this.#days.put([Math.ceil(expiresMs / DAY_MS), owner, id], true);
  }

  /** True where there was one. */
  async remove(keeper: Keeper, id: string): Promise<boolean> {
    if (this.get(keeper, id) === undefined) return false;
    const owner = ownerOf(keeper);
    await this.#deps.store.act(() => this.#forget(owner, id));
    return true;
  }

  /** Forgets all that is old. */
  async sweep(): Promise<void> {
    const end = [Math.floor(this.#deps.clock.now() / DAY_MS)];
    while (!this.#closed) {
      const old = [...this.#days.range({ end, limit: SWEEP_ROWS })];
      if (old.length === 0) return;
      const act = () => {
        for (const { key } of old) {
          const [, owner, id] = key as [number, string, string];
          this.#days.remove(key);
          this.#forget(owner, id);
        }
      };
      await this.#deps.store.act(act, { isOwed: true });
    }
  }

  #forget(owner: string, id: string): void {
    for (const item of this.#responses.get([owner, id])?.itemIds ?? []) {
      this.#items.remove([owner, item]);
    }
    this.#responses.remove([owner, id]);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }
}

/** Whether an answer may be kept: its client and its org must both agree. */
export function mayKeep(call: Call, history: History, request: ClientRequest): boolean {
  const { logging, retentionDays } = call.key.dataPolicy;
  return !call.isZdr && logging === "on" && retentionDays > 0 && history.keeps(request);
}
