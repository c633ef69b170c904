/**
 * What must be so after acts of all rooms at several cells: what was answered well is audited once, no refusal is, and what was not
 * answered may be; the rows of the audit, in the order of the stream, are acts one after the other; all cells show what these left.
 */
import { expect } from "vitest";
import type { AuditRow } from "../../../src/store/events/audit.ts";
import type { Answer } from "../gateway.ts";
import { RoomsModel } from "./rooms.model.ts";
import { type Order, PLAN, POLICIES } from "./rooms.orders.ts";

type Json = Answer["json"];

/** An order that was sent; without an answer it may have been done or not. */
export interface Sent extends Order {
  readonly answer?: { readonly status: number; readonly json: Json };
}

/** By the `user-agent` that each order had of its own, which its row of the audit names: it is known without an answer. */
export type AllSent = ReadonlyMap<string, Sent>;

/** Keys of the first start: one works for live calls, one for tests. */
const FIRST_KEYS = 2;
const FIRST_PROJECTS = 1;
/** Events and the acts that they tell of. */
const TOLD = {
  "key.created": "key.create",
  "key.revoked": "key.revoke",
  "key.rotated": "key.rotate",
  "member.added": "member.add",
  "member.removed": "member.remove",
  "policy.activated": "policy.activate",
} as const;
/** May change nothing, and then nothing is audited. */
const REPEATABLE = new Set([
  "key.revoke",
  "policy.activate",
  "policy.deactivate",
  "member.update",
  "credits.grant",
]);
const ROOMS = ["key", "project", "policy", "member", "webhook", "credits"];

/** Asks a cell; anything but 200 is a failure. */
type Read = (path: string) => Promise<Json>;

/** All of a list. */
async function all(read: Read, path: string): Promise<Json[]> {
  const found: Json[] = [];
  for (let cursor = ""; ; ) {
    const page = await read(`${path}?limit=200&cursor=${cursor}`);
    found.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === "") return found;
  }
}

const data = async (read: Read, path: string): Promise<Json> => (await read(path)).data;

/** How each list is read. */
const LISTS = {
  keys: (read: Read) => all(read, "/v1/keys"),
  projects: (read: Read) => data(read, "/v1/projects"),
  policies: (read: Read) => data(read, "/v1/policies"),
  versions: (read: Read) => Promise.all(POLICIES.map((name) => data(read, `/v1/policies/${name}/versions`))),
  members: (read: Read, orgId: string) => data(read, `/v1/orgs/${orgId}/members`),
  hooks: (read: Read) => data(read, "/v1/webhooks"),
  ledger: (read: Read) => all(read, "/v1/credits/ledger"),
  events: (read: Read) => all(read, "/v1/events"),
  audit: (read: Read) => all(read, "/v1/audit"),
  credits: async (read: Read) => [await read("/v1/credits")],
};

/** What a cell shows of all rooms. */
export type State = Readonly<Record<keyof typeof LISTS, readonly Json[]>>;

export async function stateOf(read: Read, orgId: string): Promise<State> {
  const lists = Object.entries(LISTS).map(async ([name, list]) => [name, await list(read, orgId)] as const);
  const state = Object.fromEntries(await Promise.all(lists)) as State;
  // Merged once a second, and of no act.
  for (const key of state.keys) delete key.last_used_at;
  return state;
}

export class RoomsChecks {
  readonly #sent: AllSent;
  /** In the order of the stream. */
  readonly #rows: readonly AuditRow[];
  readonly #hint: string;

  constructor(sent: AllSent, rows: readonly AuditRow[], hint: string) {
    this.#sent = sent;
    this.#rows = rows;
    this.#hint = hint;
  }

  /** Numbers of orders. */
  get figures() {
    const marks = new Set(this.#rows.map(({ userAgent }) => userAgent));
    const lost = [...this.#sent].filter(([, { answer }]) => answer === undefined);
    return {
      sent: this.#sent.size,
      refused: [...this.#sent.values()].filter(isRefused).length,
      lost: lost.length,
      lostAndDone: lost.filter(([mark]) => marks.has(mark)).length,
      audited: this.#rows.length,
    };
  }

  /** @param states of each cell @throws AssertionError with the hint */
  check(states: readonly State[]): void {
    const [first, ...others] = states;
    if (first === undefined) throw new Error("there is no cell");
    this.#audited();
    const model = this.#serial();
    for (const other of others) expect(other, this.#hint).toEqual(first);
    this.#shown(model, first);
    this.#policies(model, first);
    this.#credit(first);
    this.#told(first);
    this.#meaningful();
  }

  /** Each change that was answered well is audited once, with what the answer shows, and no refusal is. */
  #audited(): void {
    const byMark = Map.groupBy(this.#rows, ({ userAgent }) => userAgent);
    for (const [mark, sent] of this.#sent) {
      const { act, answer } = sent;
      const hint = `${act} ${mark}, ${this.#hint}`;
      const [row, ...more] = byMark.get(mark) ?? [];
      expect(more, hint).toEqual([]);
      if (row !== undefined) expect(row.act, hint).toBe(act);
      if (isRefused(sent)) expect(row, `was refused: ${hint}`).toBeUndefined();
      if (isDone(sent) && !REPEATABLE.has(act)) expect(row, hint).toBeDefined();
      const json = answer?.json;
      if (row === undefined || json === undefined) continue;
      for (const { field, after } of row.changes)
        if (after !== undefined && field in json) expect(json[field], `${field} of ${hint}`).toEqual(after);
    }
    for (const mark of byMark.keys()) expect(this.#sent.has(mark), `${mark}, ${this.#hint}`).toBe(true);
  }

  #serial(): RoomsModel {
    const model = new RoomsModel((mark) => this.#sent.get(mark)?.body);
    for (const row of this.#rows) model.apply(row);
    expect(model.most.keys, this.#hint).toBeLessThanOrEqual(PLAN.limits.keys - FIRST_KEYS);
    expect(model.most.projects, this.#hint).toBeLessThanOrEqual(PLAN.limits.projects - FIRST_PROJECTS);
    return model;
  }

  #shown(model: RoomsModel, state: State): void {
    /** @returns how many more there are than acts made */
    const more = (prefix: string, shown: readonly Json[], idOf = (row: Json) => row.id) => {
      const rows = new Map<string, Json>(shown.map((row) => [idOf(row), row]));
      const ids = model.ofKind(prefix);
      for (const id of ids) {
        const fields = Object.fromEntries(model.resources.get(id) ?? []);
        expect(rows.get(id), `${id}, ${this.#hint}`).toMatchObject(fields);
      }
      return rows.size - ids.length;
    };
    expect(more("key_", state.keys), this.#hint).toBe(FIRST_KEYS);
    expect(more("prj_", state.projects), this.#hint).toBe(FIRST_PROJECTS);
    expect(more("whk_", state.hooks), this.#hint).toBe(0);
    more("usr_", state.members, ({ user_id }) => user_id);
    for (const names of [
      state.projects.map(({ slug }) => slug),
      state.members.map(({ email }) => email),
      state.events.map(({ id }) => id),
    ])
      expect(new Set(names).size, this.#hint).toBe(names.length);
  }

  #policies(model: RoomsModel, state: State): void {
    POLICIES.forEach((name, at) => {
      const versions = state.versions[at] as Json[];
      const numbers = versions.map(({ version }) => version).reverse();
      const expected = Array.from({ length: model.policies.get(name) ?? 0 }, (_, i) => i + 1);
      expect(numbers, this.#hint).toEqual(expected);
      const shown = versions.flatMap(({ version, scopes }) =>
        scopes.map(({ project_id = "" }) => `${project_id} ${version}`),
      );
      const inForce = [...model.inForce]
        .filter(([, { policy }]) => policy === name)
        .map(([project, { version }]) => `${project} ${version}`);
      expect(shown.sort(), this.#hint).toEqual(inForce.sort());
    });
  }

  /** The ledger adds up, and each key of a grant is in it once: by the order that was told so, or by one that was not answered. */
  #credit(state: State): void {
    const ledger = state.ledger.toReversed();
    expect(
      ledger.map(({ seq }) => seq),
      this.#hint,
    ).toEqual(Array.from(ledger, (_, at) => at + 1));
    let balance = 0;
    const balances = ledger.map(({ amount_micro_usd }) => (balance += amount_micro_usd));
    expect(state.credits[0].available_micro_usd, this.#hint).toBe(balance);
    const posted = this.#rows.filter(({ act }) => act === "credits.grant").map(({ userAgent }) => userAgent);
    const keyOf = (mark: string) => this.#sent.get(mark)?.body?.idempotency_key;
    const keys = new Set(posted.map(keyOf));
    expect(keys.size, this.#hint).toBe(posted.length);
    expect(ledger.filter(({ kind, ref_type }) => kind === "grant" && ref_type !== "first_start").length).toBe(
      posted.length,
    );
    for (const [mark, sent] of this.#sent) {
      if (sent.act !== "credits.grant" || !isDone(sent)) continue;
      const json: Json = sent.answer?.json;
      const hint = `grant ${keyOf(mark)}, ${this.#hint}`;
      expect(json.balance_micro_usd, hint).toBe(balances[json.seq - 1]);
      expect(posted.includes(mark), hint).toBe(!json.replay);
      expect(keys.has(keyOf(mark)), hint).toBe(true);
    }
  }

  #told(state: State): void {
    const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).sort();
    expect(ids(state.audit), this.#hint).toEqual(ids(this.#rows));
    for (const [type, act] of Object.entries(TOLD)) {
      const told = state.events.filter((event) => event.type === type);
      const done = this.#rows.filter((row) => row.act === act);
      expect(told.length, `${type}, ${this.#hint}`).toBe(done.length);
    }
  }

  /** Acts of each room were done, and not too many were refused. */
  #meaningful(): void {
    for (const room of ROOMS) {
      const isDone = this.#rows.some(({ act }) => act.startsWith(`${room}.`));
      expect(isDone, `${room}, ${this.#hint}`).toBe(true);
    }
    expect(this.figures.refused, this.#hint).toBeLessThan(this.#sent.size / 1.5);
  }
}

const isDone = ({ answer }: Sent): boolean => answer !== undefined && answer.status < 300;
const isRefused = ({ answer }: Sent): boolean => answer !== undefined && answer.status >= 300;
