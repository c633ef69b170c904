/**
 * Responses that clients may read or continue (`store`, `previous_response_id`). A response is stored in the commit that
 * settles its call, for its project and environment only, as long as the org keeps payloads, at most thirty days. Cells of one
 * installation ask each other for those that they did not store themselves.
 */

import type { KeyContext } from "../../../account/keyring.ts";
import { nextTurn } from "../../../base/clock.ts";
import { fail } from "../../../base/errors.ts";
import { after, type MaybePromise } from "../../../base/maybe-promise.ts";
import { DAY_MS } from "../../../base/time.ts";
import { SharedTurns } from "../../../base/turns/shared-turns.ts";
import type { KeptOwner } from "../../../credits/kept/kept-bytes.ts";
import type { KeptChange } from "../../../credits/kept/kept-counts.ts";
import type { Table } from "../../../store/store.ts";
import { type ExpiringTable, openExpiringTable } from "../../../store/tables/expiring-table.ts";
import type { Charged, ClientRequest, History } from "../../../wire/format.ts";
import type { Call } from "../call.ts";
import type { Broken } from "../errors/broken-off.ts";
import { brokenOff } from "./broken-off.ts";
import type { IdempotencyDeps } from "./idempotency.ts";
import type { Place, SharedResponses, StoredResponse } from "./kept-rows.ts";

const KEEP_DAYS = 30;
/** Ids that may be of a response that was made here; others name none. */
const OWN_ID = /^[\w-]{1,64}$/;
/** Longest id of an item that requests can name. */
export const MAX_ID_LENGTH = 256;
/** Characters of a client's id in a message. */
export const MOST_QUOTED = 100;
/** Each is a read of the store. */
const ITEMS_A_TURN = 256;
/** The table of responses, and that of the days on which they expire. */
export const RESPONSE_TABLES = { rows: "responses", periods: "response_days", periodMs: DAY_MS };

/** `[owner, id]` of background responses whose calls run. */
const RUNS = "response_runs";
/** Ended in one act. */
const RUNS_AT_ONCE = 100;
const ALONE: Place = { cell: "", life: "" };

/** The owner of responses: a key's project, and whether it is a test key. */
export type ResponseOwner = Pick<KeyContext, "projectId" | "environment">;

/** Test keys read, continue and delete only responses of test calls, live keys only those of live calls. */
export const ownerOf = ({ projectId, environment }: ResponseOwner): string =>
  environment === "test" ? `${projectId}/test` : projectId;

/** `maxBytes`: of response and items together; larger ones are not stored. */
export interface StoredResponsesDeps extends Omit<IdempotencyDeps, "shared"> {
  /** Port: the org of a project, deleted ones included; for rows of earlier releases. */
  readonly orgOf: (projectId: string) => string | undefined;
  /** Those of other cells; undefined in a gateway alone. */
  readonly shared?: SharedResponses | undefined;
}

export class StoredResponses {
  /** Shared by all who look through stored texts. */
  readonly turns = new SharedTurns();
  readonly #deps: StoredResponsesDeps;
  /** `[owner, id]`. */
  readonly #responses: ExpiringTable<StoredResponse>;
  /** `[owner, item]`: the response that contains the item. */
  readonly #items: Table<string>;
  readonly #runs: Table<true>;

  constructor(deps: StoredResponsesDeps) {
    this.#deps = deps;
    const { store, clock, onFailure } = deps;
    this.#items = store.table("response_items");
    this.#runs = store.table(RUNS);
    this.#responses = openExpiringTable({
      store,
      clock,
      onFailure,
      ...RESPONSE_TABLES,
      onRemove: ([owner = "", id = ""], response) => {
        if (response.background !== undefined) this.#runs.remove([owner, id]);
        for (const item of response.itemIds) this.#items.remove([owner, item]);
        const whose = this.#orgOf(owner, response);
        if (whose !== undefined) this.#deps.kept.count(whose, "responses", -responseBytes(response));
      },
    });
  }

  /** @throws WeirError 503 (as a rejection) where other cells may have it and cannot be asked */
  get(owner: ResponseOwner, id: string): MaybePromise<StoredResponse | undefined> {
    const { shared } = this.#deps;
    // Other cells are not asked for what no gateway has made.
    if (!OWN_ID.test(id)) return undefined;
    const name = ownerOf(owner);
    if (shared === undefined) return this.#unexpired(this.own(name, id));
    if (shared.isForgotten(name, id)) return undefined;
    const own = this.own(name, id);
    if (own !== undefined) return this.#unexpired(own);
    return this.#ofOthers(shared, name, id);
  }

  async #ofOthers(shared: SharedResponses, owner: string, id: string): Promise<StoredResponse | undefined> {
    const found = await this.#shared(shared, owner, id);
    if (found?.background?.status !== "in_progress" || !(await shared.isOver(found.background))) return found;
    // It may have been told how it ended since it was read. From now on it is told nothing more.
    const last = await this.#shared(shared, owner, id);
    return last?.background?.status === "in_progress" ? brokenOff(last, "retired") : last;
  }

  async #shared(shared: SharedResponses, owner: string, id: string): Promise<StoredResponse | undefined> {
    return this.#unexpired(await shared.get(owner, id));
  }

  /** Where calls of this process run. */
  get place(): Place {
    return this.#deps.shared?.place ?? ALONE;
  }

  #unexpired(found: StoredResponse | undefined): StoredResponse | undefined {
    return found === undefined || found.expiresMs <= this.#deps.clock.now() ? undefined : found;
  }

  /** Stored by this process, and not forgotten yet. */
  own(owner: string, id: string): StoredResponse | undefined {
    return this.#responses.get([owner, id]);
  }

  /**
   * The response that a request continues.
   * @throws WeirError 400 `previous_response_not_found` if there is none, or it has expired; 400 where it has no answer to continue;
   *   503 as `get`
   */
  previous(owner: ResponseOwner, id: string): MaybePromise<StoredResponse> {
    return after(this.get(owner, id), (found) => {
      if (found !== undefined) return continuable(found, id);
      const message = `Previous response with id '${id.slice(0, MOST_QUOTED)}' not found.`;
      throw fail("previous_response_not_found", message, { param: "/previous_response_id" });
    });
  }

  /** Id of the response that has an item, if this process stored it. */
  responseWith(owner: ResponseOwner, itemId: string): string | undefined {
    return this.#items.get([ownerOf(owner), itemId]);
  }

  /** Ids of the responses that have these items, of all cells. @throws as `get` */
  async responsesWith(owner: ResponseOwner, itemIds: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    const others: string[] = [];
    for (const [index, item] of itemIds.entries()) {
      const id = this.responseWith(owner, item);
      if (id === undefined && item.length <= MAX_ID_LENGTH) others.push(item);
      if (id !== undefined) found.set(item, id);
      if (index % ITEMS_A_TURN === ITEMS_A_TURN - 1) await nextTurn();
    }
    const { shared } = this.#deps;
    if (shared === undefined || others.length === 0) return found;
    for (const [item, id] of await shared.responsesWith(ownerOf(owner), others)) found.set(item, id);
    return found;
  }

  #orgOf(owner: string, { orgId }: Partial<StoredResponse>): KeptOwner | undefined {
    const [projectId = "", isTest] = owner.split("/");
    const org = orgId ?? this.#deps.orgOf(projectId);
    return org === undefined ? undefined : { orgId: org, environment: isTest === "test" ? "test" : "live" };
  }

  /** What each response takes in its org's quota. Lazily. */
  *kept(): Generator<KeptOwner & KeptChange> {
    for (const { key, value } of this.#deps.store.table<StoredResponse>(RESPONSE_TABLES.rows).range()) {
      const whose = this.#orgOf((key as string[])[0] ?? "", value);
      if (whose !== undefined) yield { ...whose, kind: "responses", bytes: responseBytes(value) };
    }
  }

  /** Whether a conversation of so many bytes may be stored. */
  fits(bytes: number): boolean {
    return bytes <= this.#deps.maxBytes;
  }

  /** Stores a response that `fits`; call it only inside a commit. */
  put(key: KeyContext, id: string, stored: Omit<StoredResponse, "expiresMs" | "orgId">): void {
    const { orgId, environment } = key;
    const days = Math.min(KEEP_DAYS, key.dataPolicy.retentionDays);
    const expiresMs = this.#deps.clock.now() + days * DAY_MS;
    this.#put({ orgId, environment }, ownerOf(key), id, { ...stored, orgId, expiresMs });
  }

  /** Stores another state of a response for as long as its first; call it only inside a commit. Nothing where it was deleted meanwhile. */
  replace(key: KeyContext, id: string, stored: Omit<StoredResponse, "expiresMs" | "orgId">): void {
    const { orgId, environment } = key;
    const owner = ownerOf(key);
    const before = this.own(owner, id);
    if (before === undefined || this.#deps.shared?.isForgotten(owner, id) === true) return;
    this.#put({ orgId, environment }, owner, id, { ...stored, orgId, expiresMs: before.expiresMs });
  }

  #put(whose: KeptOwner, owner: string, id: string, row: StoredResponse): void {
    // The same once more counts once.
    if (this.own(owner, id) !== undefined) this.removeOwn(owner, id);
    this.#responses.put([owner, id], row, row.expiresMs);
    this.#deps.kept.count(whose, "responses", responseBytes(row));
    for (const item of row.itemIds) this.#items.put([owner, item], id);
    if (row.background?.status === "in_progress") this.#runs.put([owner, id], true);
    this.#deps.shared?.willShare(owner, id);
  }

  /**
   * The end of a background response whose process was killed: its object, and what stores it, in the act that charges its call. Undefined
   * where there is none of that id that runs. @param charged as of `brokenOff`
   */
  brokenOff(
    whose: KeptOwner & ResponseOwner,
    id: string,
    how: Broken,
    charged: Charged | undefined,
  ): { readonly response: string; put(): void } | undefined {
    const owner = ownerOf(whose);
    const row = this.own(owner, id);
    if (row?.background?.status !== "in_progress") return undefined;
    const ended = brokenOff(row, how, charged);
    return { response: ended.response, put: () => this.#put(whose, owner, id, ended) };
  }

  /** A background response that failed, JSON text; undefined where it did not. @throws as `get` */
  failed(owner: ResponseOwner, id: string): MaybePromise<string | undefined> {
    return after(this.get(owner, id), (found) =>
      found?.background?.status === "failed" ? found.response : undefined,
    );
  }

  /** Likewise of this process. */
  failedHere(owner: ResponseOwner, id: string): string | undefined {
    const found = this.own(ownerOf(owner), id);
    return found?.background?.status === "failed" ? found.response : undefined;
  }

  /**
   * At the start, before any call, and behind what ends the calls of killed processes with their logs (`detached/recover.ts`): all other
   * background responses that an earlier process of this folder left running are over, too.
   */
  async endRuns(): Promise<void> {
    const act = (): boolean => {
      const left = Array.from(
        this.#runs.range({ limit: RUNS_AT_ONCE }),
        ({ key }) => key as [string, string],
      );
      for (const [owner, id] of left) {
        const row = this.own(owner, id);
        const whose = row && this.#orgOf(owner, row);
        if (row !== undefined && whose !== undefined) this.#put(whose, owner, id, brokenOff(row, "charged"));
        this.#runs.remove([owner, id]);
      }
      return left.length > 0;
    };
    while (await this.#deps.store.act(act, { isOwed: true }));
  }

  /**
   * At the start, before other cells are told anything: of what a life of this cell had not sent before it was retired, the others say
   * that it failed. It stays so, whatever this folder has of it.
   * @param dropStream removes what a response's stream was, which ends otherwise @throws as `get`
   */
  async endUntold(dropStream: (id: string) => Promise<void>): Promise<void> {
    const { shared, store } = this.#deps;
    if (shared === undefined) return;
    for (const [owner, id] of shared.unsent()) {
      const { background } = this.own(owner, id) ?? {};
      if (background === undefined || background.life === shared.place.life) continue;
      if (!(await shared.isOver(background))) continue;
      const told = await shared.told(owner, id);
      const whose = told && this.#orgOf(owner, told);
      if (told?.background?.status !== "in_progress" || whose === undefined) continue;
      // First: a process that is killed between the two finds the response again, and not the stream.
      await dropStream(id);
      await store.act(() => this.#put(whose, owner, id, brokenOff(told, "retired")), { isOwed: true });
    }
  }

  /** Behind the commit of `put`. A promise where other cells get it: resolves once they can, or soon; never rejects. */
  shared(key: KeyContext, id: string): Promise<void> | undefined {
    return this.#deps.shared?.shared(ownerOf(key), id);
  }

  /** @returns whether there was one. @throws as `get` */
  async remove(owner: ResponseOwner, id: string): Promise<boolean> {
    if ((await this.get(owner, id)) === undefined) return false;
    const { store, shared } = this.#deps;
    // A cell's own rows and their sum are written by acts of that cell alone: those of all cells are stored later than they run.
    await store.act(() => {
      if (shared === undefined) this.removeOwn(ownerOf(owner), id);
      else shared.forget(ownerOf(owner), id);
    });
    return true;
  }

  /** Only in an act: of what this process stored. */
  removeOwn(owner: string, id: string): void {
    this.#responses.remove([owner, id]);
  }

  /** Only in an act: removes all responses of a project. Every cell does by itself, this one too. @returns whether more are left */
  erase(projectId: string, most: number): boolean {
    const { shared } = this.#deps;
    const owners = [projectId, `${projectId}/test`];
    if (shared === undefined) return owners.some((owner) => this.eraseOwn(owner, most));
    for (const owner of owners) shared.forgetAll(owner);
    return false;
  }

  /** Only in an act: of what this process stored. @returns whether more are left */
  eraseOwn(owner: string, most: number): boolean {
    return this.#responses.removeMembers([owner], most);
  }

  /** Deletes expired responses. */
  sweep(): Promise<void> {
    return this.#responses.sweep();
  }

  close(): void {
    this.#responses.close();
  }
}

/** A response with an answer. @throws WeirError 400 */
function continuable(found: StoredResponse, id: string): StoredResponse {
  const status = found.background?.status ?? "completed";
  if (status === "completed" || status === "incomplete") return found;
  const isRunning = status === "in_progress";
  const message = `Previous response with id '${id}' ${isRunning ? "is still in progress: wait for its end" : `has no answer to continue: it is ${status}`}.`;
  throw fail("invalid_value", message, { param: "/previous_response_id" });
}

/** What a row takes beside its texts: keys, index, endpoint; and its index of each item. About. */
const ROW_BYTES = 500;
const ITEM_BYTES = 200;

/** Bytes that a response counts in the org's quota. */
export const responseBytes = ({
  response = "",
  items = "",
  itemIds = [],
}: Partial<Pick<StoredResponse, "response" | "items" | "itemIds">>): number =>
  Buffer.byteLength(response) + Buffer.byteLength(items) + ROW_BYTES + itemIds.length * ITEM_BYTES;

/** Whether an answer may be stored: both its client and its org must allow it. */
export function mayKeep(call: Call, history: History, request: ClientRequest): boolean {
  const { logging, retentionDays } = call.key.dataPolicy;
  return !call.isZdr && logging === "on" && retentionDays > 0 && history.keeps(request);
}

/** Whether a data policy lets anything be kept. */
export const keepsAnything = ({
  logging,
  retentionDays,
  zdr,
}: Pick<KeyContext["dataPolicy"], "logging" | "retentionDays" | "zdr">): boolean =>
  !zdr && logging === "on" && retentionDays > 0;
