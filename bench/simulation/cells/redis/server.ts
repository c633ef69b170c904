/**
 * A Redis in virtual time: runs what arrives, one after the other, and replies. It can be killed and started again, which keeps its rows,
 * and be replaced by a replica, which may lack the latest ones.
 */
import { createHash } from "node:crypto";
import { REQUIRED_SETTINGS } from "../../../../src/cluster/cells/redis/required-settings.ts";
import type { VirtualTime } from "../../virtual-time.ts";
import { type CommandContext, entriesBehind, type Reply, run } from "./commands.ts";
import { Database, RedisError } from "./database.ts";
import { runScript } from "./scripting.ts";

/** Replies to a command; undefined where the connection is of no use any more. */
export type Answer = (reply: Reply | RedisError) => void;

export interface ServerOptions {
  readonly time: VirtualTime;
  readonly pageRows: number;
  readonly streamEntries: number;
  /** Replicas: the master's writes reach them after so long. 0: there is none. */
  readonly replicaLagMs: () => number;
  readonly hasReplica: boolean;
  readonly onEntry: CommandContext["onEntry"];
  /** Told of each command that ran. */
  readonly onRun: (name: string, args: readonly string[], reply: Reply | RedisError) => void;
}

interface Blocked {
  readonly args: readonly string[];
  readonly answer: Answer;
  isOver: boolean;
}

/** SHA-1 of a text of bytes. */
const shaOf = (text: string): string => createHash("sha1").update(text, "latin1").digest("hex");

export class Server {
  readonly #options: ServerOptions;
  #context: CommandContext;
  #starts = 0;
  #scripts = new Map<string, string>();
  #blocked: Blocked[] = [];
  #waiting: { readonly write: number; readonly answer: Answer; isOver: boolean }[] = [];
  readonly #heard = new Map<string, Set<(message: string) => void>>();
  isUp = true;
  clockAheadMs = 0;
  /** Commands that ran so far, and how many of them the replica has, with its rows. */
  #writes = 0;
  #replica: { readonly writes: number; readonly database: Database };
  #isReplicating = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    const { time } = options;
    const database = new Database(() => time.now() + this.clockAheadMs);
    this.#context = this.#contextOf(database);
    this.#replica = { writes: 0, database };
  }

  get database(): Database {
    return this.#context.database;
  }

  /** A number of the process. */
  get starts(): number {
    return this.#starts;
  }

  kill(): void {
    this.isUp = false;
    this.#blocked = [];
    this.#waiting = [];
    this.#heard.clear();
    this.#scripts = new Map();
  }

  start(): void {
    this.#context = this.#contextOf(this.#context.database);
    this.isUp = true;
  }

  /** The replica takes the master's place: what it had not heard of is lost. */
  failOver(): void {
    this.kill();
    const { database } = this.#replica;
    this.#context = this.#contextOf(database.copy(), shaOf("replication"));
    this.#replica = { writes: this.#writes, database };
    this.isUp = true;
  }

  /** Hears a channel. @returns a function that ends it */
  subscribe(channel: string, heard: (message: string) => void): () => void {
    const listeners = this.#heard.get(channel) ?? new Set();
    this.#heard.set(channel, listeners.add(heard));
    return () => void listeners.delete(heard);
  }

  receive(name: string, args: readonly string[], answer: Answer): void {
    if (name === "XREAD") this.#read(args, answer);
    else if (name === "WAIT") this.#wait(args, answer);
    else answer(this.#run(name, args));
  }

  #contextOf(database: Database, formerReplicationId = "0".repeat(40)): CommandContext {
    const { pageRows, streamEntries, onEntry } = this.#options;
    const runId = shaOf(String(++this.#starts));
    const ids = { runId, formerReplicationId };
    return { database, ...ids, settings: REQUIRED_SETTINGS, pageRows, streamEntries, onEntry, cursors: [] };
  }

  #run(name: string, args: readonly string[]): Reply | RedisError {
    const [reply, script] = this.#tried(name, args);
    this.#writes++;
    this.#options.onRun(script === undefined ? name : "EVAL", script === undefined ? args : script, reply);
    this.#replicate();
    this.#wakeReaders();
    return reply;
  }

  #tried(name: string, args: readonly string[]): [Reply | RedisError, script?: readonly string[]] {
    let ran: readonly string[] | undefined;
    try {
      if (name === "PUBLISH") return [this.#publish(args[0] ?? "", args[1] ?? "")];
      if (name !== "EVAL" && name !== "EVALSHA") return [run(this.#context, name, args)];
      const [source = "", keys = "0", ...rest] = args;
      const text = name === "EVAL" ? source : this.#scripts.get(source);
      if (text === undefined) return [new RedisError("NOSCRIPT No matching script.")];
      if (name === "EVAL") this.#scripts.set(shaOf(source), source);
      ran = [text, keys, ...rest];
      return [runScript(this.#context, text, rest.slice(0, Number(keys)), rest.slice(Number(keys))), ran];
    } catch (error) {
      if (!(error instanceof RedisError)) throw error;
      return ran === undefined ? [error] : [error, ran];
    }
  }

  #publish(channel: string, message: string): Reply {
    const listeners = this.#heard.get(channel);
    for (const heard of listeners ?? []) heard(message);
    return listeners?.size ?? 0;
  }

  /** XREAD COUNT n BLOCK ms STREAMS key id */
  #read(args: readonly string[], answer: Answer): void {
    const found = this.#found(args);
    if (found !== null) {
      answer(found);
      return;
    }
    const blocked: Blocked = { args, answer, isOver: false };
    this.#blocked.push(blocked);
    const process = this.#starts;
    this.#options.time.after(Number(args[3]), () => {
      if (blocked.isOver || process !== this.#starts) return;
      blocked.isOver = true;
      this.#blocked = this.#blocked.filter((other) => other !== blocked);
      answer(null);
    });
  }

  #found([, most, , , , key = "", id = ""]: readonly string[]): Reply {
    const entries = entriesBehind(this.database, key, id, Number(most));
    return entries.length === 0 ? null : [[key, entries]];
  }

  #wakeReaders(): void {
    if (this.#blocked.length === 0) return;
    this.#blocked = this.#blocked.filter((blocked) => {
      const found = this.#found(blocked.args);
      if (found === null) return true;
      blocked.isOver = true;
      blocked.answer(found);
      return false;
    });
  }

  #wait([, ms]: readonly string[], answer: Answer): void {
    if (this.#replica.writes >= this.#writes) {
      answer(1);
      return;
    }
    const waiter = { write: this.#writes, answer, isOver: false };
    this.#waiting.push(waiter);
    this.#options.time.after(Number(ms), () => {
      if (waiter.isOver || !this.#waiting.includes(waiter)) return;
      waiter.isOver = true;
      answer(0);
    });
  }

  /** What ran so far reaches the replica after a while. */
  #replicate(): void {
    const { hasReplica, time, replicaLagMs } = this.#options;
    if (!hasReplica || this.#isReplicating) return;
    this.#isReplicating = true;
    const process = this.#starts;
    time.after(replicaLagMs() / 2, () => {
      const has = { writes: this.#writes, database: this.database.copy() };
      time.after(replicaLagMs() / 2, () => {
        this.#isReplicating = false;
        if (process !== this.#starts) return;
        this.#replica = has;
        for (const waiter of this.#waiting.splice(0)) {
          if (waiter.isOver) continue;
          if (waiter.write > has.writes) this.#waiting.push(waiter);
          else {
            waiter.isOver = true;
            waiter.answer(1);
          }
        }
        if (has.writes < this.#writes) this.#replicate();
      });
    });
  }
}
