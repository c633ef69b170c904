/**
 * What must be true of documents: acts are as if they ran one after the other, in the order of the stream; what was answered stays; all
 * cells have the same rows in the end; and what an act wrote in its cell alone is there if, and only if, the act was committed.
 */
import { unpackContent } from "../../../src/store/lmdb/checked.ts";
import { Broken, must } from "./broken.ts";
import type { Plan } from "./plan.ts";
import type { Server } from "./redis/server.ts";
import { isShared, type SimCell } from "./sim-cell.ts";

export const ACCOUNTS = "sim.accounts";
export const RECEIPTS = "sim.receipts";
export const LOCAL_RECEIPTS = "local.receipts";
export const ACCOUNT_BEGINS_WITH = 100;

/** What an act read and did: a row that it writes. */
export interface Receipt {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
  readonly fromHad: number;
  readonly toHad: number;
  /** Sum of all accounts, each as `weighed` has it, where the act read them as a range. */
  readonly sum: number | undefined;
  /** The cell that also keeps a row of its own. */
  readonly cell: string | undefined;
}

/** An account's part of a sum that changes with every transfer. */
export const weighed = (account: number, value: number): number => (account + 1) * value;

const PREFIX = "{weir}:";

/** Accounts after each version. */
type State = readonly number[];

export class DocumentsWatch {
  readonly #plan: Plan;
  readonly #server: Server;
  readonly #states: State[] = [];
  #seen = 1;
  readonly #told = new Set<string>();
  readonly counts = { committed: 0 };

  constructor(plan: Plan, server: Server) {
    this.#plan = plan;
    this.#server = server;
    this.#states[1] = Array.from({ length: plan.accounts }, () => ACCOUNT_BEGINS_WITH);
  }

  /** Somebody was told that the act is done. */
  told(id: string): void {
    this.#told.add(id);
  }

  /** An act was committed: its entry is in the stream. */
  committed(version: number, fields: readonly string[]): void {
    must(version === this.#seen + 1, () => `version ${version} came after ${this.#seen}`);
    this.#states[version] = this.#after(this.#states[version - 1] as State, fields);
    this.#seen = version;
  }

  /** Redis lacks its latest entries. */
  failedOver(): void {
    this.#seen = Math.min(this.#seen, Number(this.#server.database.hash(`${PREFIX}dataset`).get("version")));
  }

  /** At idle: all cells have Redis's rows. */
  problemsAtIdle(cells: readonly SimCell[]): string | undefined {
    const { database } = this.#server;
    const wanted = new Map<string, string>();
    for (const key of database.keys().filter((name) => name.startsWith(`${PREFIX}rows:`)))
      for (const [text, row] of database.hash(key))
        if (row.length > 8) wanted.set(`${key.slice(`${PREFIX}rows:`.length)} ${text}`, row.slice(9));
    for (const { name, folder } of cells) {
      let rows = 0;
      for (const table of folder.tables().filter(isShared)) {
        for (const [text, { value }] of folder.table(table).rows) {
          rows++;
          if (
            wanted.get(`${table} ${Buffer.from(text).toString("latin1")}`) !==
            Buffer.from(value).toString("latin1")
          )
            return `${name} has another row ${table} ${text} than Redis`;
        }
      }
      if (rows !== wanted.size) return `${name} has ${rows} shared rows, Redis has ${wanted.size}`;
      if (folder.table("cells.runs").rows.size > 0) return `${name} keeps runs whose end is known`;
    }
    return undefined;
  }

  /** When all is over. */
  check(cells: readonly SimCell[]): void {
    const rows = this.#server.database.hash(`${PREFIX}rows:${RECEIPTS}`);
    for (const id of this.#told)
      must(rows.has(JSON.stringify(id)), () => `act ${id}, which was answered, is not there`);
    const owned = new Map<string, string>();
    for (const [text, row] of rows) {
      const { cell } = receiptOf(row.slice(9));
      if (cell !== undefined) owned.set(text, cell);
    }
    for (const { name, folder } of cells) {
      const own = folder.table(LOCAL_RECEIPTS).rows;
      for (const text of own.keys())
        must(
          owned.get(text) === name,
          () => `${name} keeps its part of act ${text}, which was not committed`,
        );
      for (const [text, cell] of owned)
        must(cell !== name || own.has(text), () => `${name} lacks its part of act ${text}`);
    }
  }

  #after(before: State, fields: readonly string[]): State {
    const after = [...before];
    for (let at = 4; at < fields.length; at += 2) {
      const [table, text = ""] = (fields[at] as string).split("\0");
      const value = fields[at + 1] as string;
      if (table === ACCOUNTS) after[JSON.parse(text)[1] as number] = decoded(value.slice(1)) as number;
      if (table !== RECEIPTS || value === "-") continue;
      this.counts.committed++;
      this.#checkReads(text, receiptOf(value.slice(1)), before);
    }
    const sum = after.reduce((all, one) => all + one, 0);
    must(sum === this.#plan.accounts * ACCOUNT_BEGINS_WITH, () => `transfers left ${sum} in all accounts`);
    return after;
  }

  #checkReads(id: string, { from, to, fromHad, toHad, sum }: Receipt, state: State): void {
    const isAsRead = state[from] === fromHad && state[to] === toHad;
    must(
      isAsRead,
      () => `act ${id} read ${fromHad} and ${toHad} where there were ${state[from]} and ${state[to]}`,
    );
    const all = state.reduce((total, one, at) => total + weighed(at, one), 0);
    if (sum !== undefined && sum !== all) throw new Broken(`act ${id} read a range of ${sum}, not ${all}`);
  }
}

const decoded = (row: string): unknown => unpackContent("", "", Buffer.from(row, "latin1"));
const receiptOf = (row: string): Receipt => decoded(row) as Receipt;
