/** The commands that the product's scripts call, and those that cells send. */
import { type Database, RedisError, SortedSet, Stream } from "./database.ts";

/** `OK`: a status. */
export const OK = Symbol("OK");
export type Reply = number | string | null | typeof OK | Reply[];

export interface CommandContext {
  readonly database: Database;
  /** Id of the process. */
  readonly runId: string;
  /** Replication id of the master that the process was a replica of; zeros where it was none. */
  readonly formerReplicationId: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Rows of a page of SCAN and HSCAN at most: small pages are interrupted more often. */
  readonly pageRows: number;
  /** Entries that a stream keeps at most. */
  readonly streamEntries: number;
  /** Told of each entry that a stream gets. */
  readonly onEntry: (version: number, fields: readonly string[]) => void;
  /** Cursors of pages, by their number. */
  readonly cursors: string[];
}

type Command = (context: CommandContext, args: readonly string[]) => Reply;

const orNull = (value: string | undefined): string | null => value ?? null;

const count = (done: readonly boolean[]): number => done.filter(Boolean).length;

function whole(text: string | undefined): number {
  const number = Number(text);
  if (text === undefined || text === "" || !Number.isSafeInteger(number))
    throw new RedisError("ERR value is not an integer or out of range");
  return number;
}

/** A bound of scores: `(` before it leaves the bound itself out. */
function isFrom(score: number, bound: string): boolean {
  return bound.startsWith("(") ? score > bounded(bound.slice(1)) : score >= bounded(bound);
}

function isTo(score: number, bound: string): boolean {
  return bound.startsWith("(") ? score < bounded(bound.slice(1)) : score <= bounded(bound);
}

function bounded(text: string): number {
  if (text === "+inf") return Number.POSITIVE_INFINITY;
  return text === "-inf" ? Number.NEGATIVE_INFINITY : Number(text);
}

/** What LRANGE and ZRANGE return. */
function slice<T>(list: readonly T[], from: string | undefined, to: string | undefined): T[] {
  const at = (text: string | undefined) => {
    const index = whole(text);
    return index < 0 ? Math.max(0, list.length + index) : index;
  };
  const last = whole(to) < 0 && -whole(to) > list.length ? -1 : at(to);
  return list.slice(at(from), last + 1);
}

/** A page of rows in the order of their names: one that is there all the time is in one of the pages. */
function page(
  { cursors, pageRows }: CommandContext,
  names: readonly string[],
  cursor: string | undefined,
  most: number,
): [next: string, names: string[]] {
  const after = cursor === "0" ? "" : (cursors[whole(cursor) - 1] ?? "");
  const found = names.filter((name) => name > after).sort((a, b) => (a < b ? -1 : 1));
  const taken = found.slice(0, Math.min(most, pageRows));
  const last = taken.at(-1);
  if (taken.length === found.length || last === undefined) return ["0", taken];
  return [String(cursors.push(last)), taken];
}

/** The word behind a name in the arguments of a command. */
const optionOf = (args: readonly string[], name: string): string | undefined => {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
};

const TEXTS: Record<string, Command> = {
  GET: ({ database }, [key = ""]) => orNull(database.text(key)),
  SET({ database }, [key = "", value = "", ...options]) {
    if (options.includes("NX") && database.has(key)) return null;
    database.setText(key, value);
    const ms = optionOf(options, "PX");
    if (ms !== undefined) database.endAt(key, database.now() + whole(ms));
    return OK;
  },
  INCRBY({ database }, [key = "", by]) {
    const sum = whole(database.text(key) ?? "0") + whole(by);
    database.replaceText(key, String(sum));
    return sum;
  },
  DECRBY: (context, [key = "", by]) => run(context, "INCRBY", [key, String(-whole(by))]),
};

const KEYS: Record<string, Command> = {
  DEL: ({ database }, keys) => count(keys.map((key) => database.remove(key))),
  EXISTS: ({ database }, keys) => count(keys.map((key) => database.has(key))),
  PEXPIRE({ database }, [key = "", ms]) {
    if (!database.has(key)) return 0;
    database.endAt(key, database.now() + whole(ms));
    return 1;
  },
  PERSIST: ({ database }, [key = ""]) => Number(database.endless(key)),
  PTTL({ database }, [key = ""]) {
    if (!database.has(key)) return -2;
    const end = database.endsAt(key);
    return end === undefined ? -1 : end - database.now();
  },
  SCAN(context, [cursor, ...options]) {
    const match = optionOf(options, "MATCH") ?? "*";
    const prefix = match.slice(0, -1);
    const names = context.database.keys().filter((key) => key.startsWith(prefix));
    const [next, found] = page(context, names, cursor, whole(optionOf(options, "COUNT") ?? "10"));
    return [next, found];
  },
  TIME({ database }) {
    const ms = Math.floor(database.now());
    return [String(Math.floor(ms / 1000)), String((ms % 1000) * 1000)];
  },
  INFO: ({ runId, formerReplicationId }) =>
    `# Server\r\nrun_id:${runId}\r\n# Replication\r\nmaster_replid2:${formerReplicationId}\r\n`,
  CONFIG: ({ settings }, [, name = ""]) => [name, settings[name] ?? ""],
};

const changeHash = (database: Database, key: string): Map<string, string> =>
  database.forChange(key, database.hash(key) as Map<string, string>, () => new Map());

const HASHES: Record<string, Command> = {
  HGET: ({ database }, [key = "", field = ""]) => orNull(database.hash(key).get(field)),
  HMGET({ database }, [key = "", ...fields]) {
    const hash = database.hash(key);
    return fields.map((field) => orNull(hash.get(field)));
  },
  HGETALL: ({ database }, [key = ""]) => [...database.hash(key)].flat(),
  HKEYS: ({ database }, [key = ""]) => [...database.hash(key).keys()],
  HVALS: ({ database }, [key = ""]) => [...database.hash(key).values()],
  HEXISTS: ({ database }, [key = "", field = ""]) => Number(database.hash(key).has(field)),
  HSTRLEN: ({ database }, [key = "", field = ""]) => database.hash(key).get(field)?.length ?? 0,
  HSET({ database }, [key = "", ...pairs]) {
    if (pairs.length === 0 || pairs.length % 2 !== 0)
      throw new RedisError("ERR wrong number of arguments for 'hset' command");
    const hash = changeHash(database, key);
    const before = hash.size;
    for (let at = 0; at < pairs.length; at += 2) hash.set(pairs[at] as string, pairs[at + 1] as string);
    return hash.size - before;
  },
  HDEL({ database }, [key = "", ...fields]) {
    const hash = changeHash(database, key);
    const removed = count(fields.map((field) => hash.delete(field)));
    database.changed(key);
    return removed;
  },
  HINCRBY({ database }, [key = "", field = "", by]) {
    const hash = changeHash(database, key);
    const sum = whole(hash.get(field) ?? "0") + whole(by);
    hash.set(field, String(sum));
    return sum;
  },
  HSCAN(context, [key = "", cursor, ...options]) {
    const hash = context.database.hash(key);
    const most = whole(optionOf(options, "COUNT") ?? "10");
    const [next, names] = page(context, [...hash.keys()], cursor, most);
    return [next, names.flatMap((name) => [name, hash.get(name) as string])];
  },
};

const changeList = (database: Database, key: string): string[] =>
  database.forChange(key, database.has(key) ? (database.list(key) as string[]) : undefined, () => []);

const LISTS: Record<string, Command> = {
  LLEN: ({ database }, [key = ""]) => database.list(key).length,
  LRANGE: ({ database }, [key = "", from, to]) => slice(database.list(key), from, to),
  LINDEX: ({ database }, [key = "", at]) => orNull(database.list(key).at(whole(at))),
  LSET({ database }, [key = "", at, value = ""]) {
    const list = changeList(database, key);
    const index = whole(at) < 0 ? list.length + whole(at) : whole(at);
    if (index < 0 || index >= list.length) throw new RedisError("ERR index out of range");
    list[index] = value;
    return OK;
  },
  RPUSH: ({ database }, [key = "", ...values]) => changeList(database, key).push(...values),
  LPOP({ database }, [key = "", most]) {
    if (!database.has(key)) return null;
    const list = changeList(database, key);
    const taken = list.splice(0, most === undefined ? 1 : whole(most));
    database.changed(key);
    return most === undefined ? (taken[0] as string) : taken;
  },
};

const changeSet = (database: Database, key: string): Set<string> =>
  database.forChange(key, database.set(key) as Set<string>, () => new Set());

const SETS: Record<string, Command> = {
  SCARD: ({ database }, [key = ""]) => database.set(key).size,
  SMEMBERS: ({ database }, [key = ""]) => [...database.set(key)],
  SISMEMBER: ({ database }, [key = "", member = ""]) => Number(database.set(key).has(member)),
  SRANDMEMBER: ({ database }, [key = "", most]) => [...database.set(key)].slice(0, whole(most)),
  SADD({ database }, [key = "", ...members]) {
    const set = changeSet(database, key);
    const before = set.size;
    for (const member of members) set.add(member);
    return set.size - before;
  },
  SREM({ database }, [key = "", ...members]) {
    const set = changeSet(database, key);
    const removed = count(members.map((member) => set.delete(member)));
    database.changed(key);
    return removed;
  },
  SPOP({ database }, [key = "", most]) {
    const set = changeSet(database, key);
    const taken = [...set].slice(0, whole(most));
    for (const member of taken) set.delete(member);
    database.changed(key);
    return taken;
  },
};

const changeSorted = (database: Database, key: string): SortedSet =>
  database.forChange(key, database.sortedSet(key), () => new SortedSet());

const SORTED_SETS: Record<string, Command> = {
  ZCARD: ({ database }, [key = ""]) => database.sortedSet(key)?.scores.size ?? 0,
  ZADD({ database }, [key = "", score, member = ""]) {
    const { scores } = changeSorted(database, key);
    const isNew = !scores.has(member);
    scores.set(member, Number(score));
    return Number(isNew);
  },
  ZREM({ database }, [key = "", ...members]) {
    const removed = count(members.map((member) => changeSorted(database, key).scores.delete(member)));
    database.changed(key);
    return removed;
  },
  ZPOPMIN({ database }, [key = "", most]) {
    const set = changeSorted(database, key);
    const taken = set.sorted().slice(0, whole(most));
    for (const [member] of taken) set.scores.delete(member);
    database.changed(key);
    return taken.flatMap(([member, score]) => [member, String(score)]);
  },
  ZRANGE({ database }, [key = "", from, to]) {
    const members = (database.sortedSet(key)?.sorted() ?? []).map(([member]) => member);
    return slice(members, from, to);
  },
  ZRANGEBYSCORE({ database }, [key = "", from = "", to = "", ...options]) {
    const limit = options.indexOf("LIMIT");
    const [first, most] = [whole(options[limit + 1]), whole(options[limit + 2])];
    const found = (database.sortedSet(key)?.sorted() ?? [])
      .filter(([, score]) => isFrom(score, from) && isTo(score, to))
      .slice(first, first + most);
    return found.flatMap(([member, score]) => [member, String(score)]);
  },
  ZREMRANGEBYSCORE({ database }, [key = "", from = "", to = ""]) {
    const set = changeSorted(database, key);
    const gone = set.sorted().filter(([, score]) => isFrom(score, from) && isTo(score, to));
    for (const [member] of gone) set.scores.delete(member);
    database.changed(key);
    return gone.length;
  },
};

const versionOf = (id: string): number => whole(id.replace(/-0$/, ""));

const STREAMS: Record<string, Command> = {
  XADD({ database, streamEntries, onEntry }, [key = "", ...rest]) {
    // MAXLEN ~ entries, id, fields and values.
    const [, , most, id = "", ...fields] = rest;
    const stream = database.forChange(key, database.stream(key), () => new Stream());
    const version = versionOf(id);
    if (version <= (stream.entries.at(-1)?.version ?? 0))
      throw new RedisError(
        "ERR The ID specified in XADD is equal or smaller than the target stream top item",
      );
    stream.entries.push({ version, fields });
    onEntry(version, fields);
    stream.entries.splice(0, stream.entries.length - Math.min(whole(most), streamEntries));
    return id;
  },
  XRANGE({ database }, [key = "", from = "", to = ""]) {
    const entries = database.stream(key)?.entries ?? [];
    return entries
      .filter(({ version }) => version >= versionOf(from) && version <= versionOf(to))
      .map(({ version, fields }) => [`${version}-0`, [...fields]]);
  },
};

const COMMANDS = new Map(
  Object.entries({ ...TEXTS, ...KEYS, ...HASHES, ...LISTS, ...SETS, ...SORTED_SETS, ...STREAMS }),
);

/** @throws RedisError */
export function run(context: CommandContext, name: string, args: readonly string[]): Reply {
  const command = COMMANDS.get(name);
  if (command === undefined) throw new RedisError(`ERR unknown command '${name}'`);
  return command(context, args);
}

/** Entries behind a version, at most so many: what XREAD returns. */
export function entriesBehind(database: Database, key: string, id: string, most: number): Reply[] {
  const after = versionOf(id);
  const found = (database.stream(key)?.entries ?? []).filter(({ version }) => version > after);
  return found.slice(0, most).map(({ version, fields }) => [`${version}-0`, [...fields]]);
}
