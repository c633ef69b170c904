/**
 * Acts at random over made-up tables. Each writes what it read and wrote beside its writes, so that the stream tells of every act
 * that happened, also of those whose cell was killed before it could answer; a replay in the stream's order must read the same.
 */
import { strict as assert } from "node:assert";
import { readEntry } from "../../../../../src/cluster/cells/replica/replica.ts";
import type { ActOptions } from "../../../../../src/store/journal/group.ts";
import { unpackContent } from "../../../../../src/store/lmdb/checked.ts";
import type { Store } from "../../../../../src/store/store.ts";
import type { Bench } from "../fixtures.ts";

const ACCOUNTS = 12;
const START = 100;
/** The sum of all accounts: no act changes it. */
export const SUM = ACCOUNTS * START;
const MARKS = "marks";

interface Read {
  readonly at: string;
  readonly seen: unknown;
}

/** What an act did. */
interface Done {
  readonly mark: string;
  readonly reads: readonly Read[];
  /** Value null: removed. */
  readonly writes: readonly (readonly [at: string, value: unknown])[];
}

/** An act at random, over tables with keys of one part and of two. Resolves once it is answered. @param mark no other act has it */
export function randomAct(
  store: Store,
  random: () => number,
  mark: string,
  options: ActOptions = {},
): Promise<void> {
  const pick = (n: number) => Math.floor(random() * n);
  const [kind, from, to, group] = [pick(5), pick(ACCOUNTS), pick(ACCOUNTS), `g${pick(3)}`];
  const [accounts, items] = [store.table<number>("accounts"), store.table<string>("items")];
  return store.act(() => {
    const [reads, writes]: [Read[], [string, unknown][]] = [[], []];
    const balance = (account: number) => {
      const seen = accounts.get(account) ?? START;
      reads.push({ at: `accounts ${account}`, seen });
      return seen;
    };
    const set = (account: number, value: number) => {
      accounts.put(account, value);
      writes.push([`accounts ${account}`, value]);
    };
    const list = () => {
      const seen = Array.from(items.range({ start: [group], end: [group, "~"] }), ({ key, value }) => [
        key,
        value,
      ]);
      reads.push({ at: `items ${group}`, seen });
      return seen;
    };
    if (kind <= 1 && from !== to) {
      const [a, b] = [balance(from), balance(to)];
      if (a > 0) {
        set(from, a - 1);
        set(to, b + 1);
      }
    } else if (kind === 2 && list().length < 5) {
      items.put([group, mark], mark);
      writes.push([`items ${group} ${mark}`, mark]);
    } else if (kind === 3) {
      const [first] = list();
      if (first !== undefined) {
        const [key] = first as [[string, string]];
        items.remove(key);
        writes.push([`items ${key[0]} ${key[1]}`, null]);
      }
    } else for (let account = 0; account < ACCOUNTS; account++) balance(account);
    const done: Done = { mark, reads, writes };
    store.table<Done>(MARKS).put("last", done);
  }, options);
}

/** Replays all acts in the order of the stream, each of which must have read what those before it wrote. @param hint for a failure @returns their marks */
export async function replay({ link }: Bench, hint: string): Promise<string[]> {
  const found = (await link.call("XRANGE", "{weir}:stream", "-", "+")) as [Buffer, Buffer[]][];
  const balances = new Map<string, number>();
  const items = new Map<string, string>();
  const marks: string[] = [];
  for (const { changes, version } of found.map(readEntry)) {
    const row = changes.find(({ table }) => table === MARKS);
    if (row?.value === undefined) continue;
    const act = unpackContent<Done>(MARKS, row.text, row.value);
    marks.push(act.mark);
    for (const { at, seen } of act.reads) {
      const [table, part] = at.split(" ") as [string, string];
      const rows = [...items]
        .filter(([key]) => key.startsWith(`${part} `))
        .map(([key, value]) => [key.split(" "), value])
        .sort((a, b) => (`${a[1]}` < `${b[1]}` ? -1 : 1));
      const there = table === "items" ? rows : (balances.get(at) ?? START);
      assert.deepEqual(seen, there, `${act.mark} at ${version}, ${hint}`);
    }
    for (const [at, value] of act.writes) {
      if (at.startsWith("accounts")) balances.set(at, value as number);
      else if (value === null) items.delete(at.slice(6));
      else items.set(at.slice(6), value as string);
    }
  }
  assert.equal(
    sumOf((account) => balances.get(`accounts ${account}`)),
    SUM,
  );
  return marks;
}

/** The sum of all accounts, as a cell has them. */
export const sumAt = (store: Store): number =>
  sumOf((account) => store.table<number>("accounts").get(account));

const sumOf = (balance: (account: number) => number | undefined): number =>
  Array.from({ length: ACCOUNTS }, (_, account) => balance(account) ?? START).reduce((a, b) => a + b);
