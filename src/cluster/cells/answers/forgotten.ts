/**
 * What was deleted or erased of kept answers. Rows that all cells have say what, for as long as a cell's folder could bring it back:
 * each cell removes its own of it, also one that was away. Redis is told by each too: it takes no harm of it.
 */

import { type Clock, nextTurn } from "../../../base/clock.ts";
import { DAY_MS } from "../../../base/time.ts";
import type { OwnRows } from "../../../inference/exchange/kept/kept-rows.ts";
import type { Store } from "../../../store/store.ts";
import { type ExpiringTable, openExpiringTable } from "../../../store/tables/expiring-table.ts";
import type { StoreKey } from "../../../store/tables/table.ts";
import type { Lane } from "../exchange/exchange.ts";
import { ownerPart } from "./packed.ts";

export interface ForgottenOptions {
  readonly store: Store;
  /** Port: rows that were removed leave the cell's folder. */
  readonly forgetRemoved: () => Promise<void>;
  /** A lane that only this part uses. */
  readonly lane: Pick<Lane, "send">;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

const ROWS = "forgotten.rows";
/** This cell's own table: orgs that were erased, of which its folder has been told to keep nothing. */
const ERASED_HERE = "cells.erased";
/** Longer than anything is kept. */
const KEEP_DAYS = 32;
const ROWS_AT_ONCE = 100;
const RETRY_MS = 1000;

export class Forgotten {
  readonly #options: ForgottenOptions;
  /**
   * `["org", org]`, `["owner", owner]` or `["response", owner, id]`. A conversation is of the last kind too, which cells of earlier
   * releases know: its id says what it is.
   */
  readonly #rows: ExpiringTable<true>;
  #own: OwnRows | undefined;
  #due: string[][] = [];
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: ForgottenOptions) {
    this.#options = options;
    const { store, clock, onFailure } = options;
    this.#rows = openExpiringTable({
      store,
      clock,
      onFailure,
      rows: ROWS,
      periods: "forgotten.days",
      keepPeriods: KEEP_DAYS,
    });
  }

  hasOrg(orgId: string): boolean {
    return this.#rows.get(["org", orgId]) !== undefined;
  }

  hasResponse(owner: string, id: string): boolean {
    return (
      this.#rows.get(["response", owner, id]) !== undefined || this.#rows.get(["owner", owner]) !== undefined
    );
  }

  /** In an act. */
  add(key: readonly string[]): void {
    if (this.#rows.get([...key]) === undefined) this.#rows.put([...key], true, this.#options.clock.now());
  }

  /** Removes what was forgotten while this cell was away, and from now on what any cell forgets. */
  start(own: OwnRows): void {
    this.#own = own;
    const rows = this.#options.store.table<true>(ROWS);
    rows.watch((key: StoreKey, row) => {
      if (row === undefined) return;
      this.#due.push(key as string[]);
      this.#work();
    });
    for (const { key } of rows.range()) this.#due.push(key as string[]);
    this.#work();
  }

  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  close(): void {
    this.#isStopped = true;
    this.#rows.close();
  }

  #work(): void {
    const own = this.#own;
    if (own === undefined || this.#isStopped) return;
    this.#running ??= this.#run(own).finally(() => {
      this.#running = undefined;
    });
  }

  async #run(own: OwnRows): Promise<void> {
    while (this.#due.length > 0 && !this.#isStopped) {
      // Behind the act whose row this is.
      await nextTurn();
      const keys = this.#due.splice(0, ROWS_AT_ONCE);
      try {
        await this.#forget(own, keys);
      } catch (error) {
        if (this.#isStopped) return;
        this.#options.onFailure(error);
        this.#due.push(...keys);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  async #forget(own: OwnRows, keys: readonly string[][]): Promise<void> {
    const { store, lane } = this.#options;
    const single = keys.filter(([kind]) => kind === "response") as [string, string, string][];
    if (single.length > 0) {
      const here = single.filter(([, owner, id]) => isHere(own, owner, id));
      const remove = () => {
        for (const [, owner, id] of here) {
          if (isConversation(id)) own.removeConversation(owner, id);
          else own.removeResponse(owner, id);
        }
      };
      if (here.length > 0) await store.act(remove, { isOwed: true });
      const operationOf = (id: string) => (isConversation(id) ? "forget_conversation" : "forget_response");
      await lane.send(single.map(([, owner, id]) => [operationOf(id), ownerPart(owner), id]));
    }
    for (const [kind, whose = ""] of keys) {
      if (kind === "response") continue;
      const erase = kind === "org" ? own.eraseAnswers : own.eraseResponses;
      while (await store.act(() => erase(whose, ROWS_AT_ONCE), { isOwed: true }));
      if (kind === "org") await this.#forgetInRedis("forget_answers", whose);
      else {
        await this.#forgetInRedis("forget_responses", ownerPart(whose));
        await this.#forgetInRedis("forget_conversations", ownerPart(whose));
      }
      if (kind === "org") await this.#eraseHere(whose);
    }
  }

  async #forgetInRedis(operation: string, whose: string): Promise<void> {
    const { lane } = this.#options;
    while ((await lane.send([[operation, whose, ROWS_AT_ONCE]]))[0]?.[0] === 1);
  }

  /** The cell that erases an org does it for its own folder: the others by this row, also one that was away. */
  async #eraseHere(orgId: string): Promise<void> {
    const { store, clock, forgetRemoved } = this.#options;
    const erased = store.table<number>(ERASED_HERE);
    if (erased.get(orgId) !== undefined) return;
    await forgetRemoved();
    const nowMs = clock.now();
    const old = Array.from(erased.range()).filter(({ value }) => value < nowMs - 2 * KEEP_DAYS * DAY_MS);
    await store.act(() => {
      erased.put(orgId, nowMs);
      for (const { key } of old) erased.remove(key);
    });
  }
}

const isConversation = (id: string): boolean => id.startsWith("conv_");

const isHere = (own: OwnRows, owner: string, id: string): boolean =>
  (isConversation(id) ? own.conversation(owner, id) : own.response(owner, id)) !== undefined;
