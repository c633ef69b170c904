/**
 * Sends what this cell answered to Redis, where other cells find it. A row says what is still to be sent, and is written in the act that
 * stores the answer: so a process that was killed goes on after its start, and only then end the claims of its former lives.
 */
import { randomInt } from "node:crypto";
import { nextTurn } from "../../../base/clock.ts";
import {
  type KeptAnswer,
  LEAST_ANSWER_MS,
  type OwnRows,
  type SharedAnswer,
} from "../../../inference/exchange/kept/kept-rows.ts";
import type { RowVersions, Table } from "../../../store/store.ts";
import type { SharedClock } from "../clock/shared-clock.ts";
import { Blobs, type Operation } from "../exchange/exchange.ts";
import { within } from "../within.ts";
import type { Forgotten, ForgottenOptions } from "./forgotten.ts";
import { ANSWER_MS, answerOperation, claimOf, conversationOperation, responseOperation } from "./packed.ts";

export interface SenderOptions extends Pick<ForgottenOptions, "store" | "lane" | "onFailure"> {
  readonly clock: Pick<SharedClock, "now" | "steady">;
  readonly forgotten: Pick<Forgotten, "hasOrg" | "hasResponse">;
  /** Bytes of all answers, and of all responses, that Redis keeps. */
  readonly mostBytes: number;
  /** Redis has what was claimed under this name, or nobody will have it. */
  readonly onShared: (claim: string) => void;
  /** Redis has a conversation that this cell had before: it has an older version of it. */
  readonly onSuperseded: (cell: string, owner: string, id: string, version: number) => void;
}

/** `["a", id]`, `["r", owner, id]` or `["c", owner, id]`: an answer, a response, a conversation. */
type Key = readonly [kind: "a", id: string] | readonly [kind: "r" | "c", owner: string, id: string];

/** A row of what Redis lacks. The key of a response or a conversation names it. */
interface Unsent {
  readonly answer?: SharedAnswer;
  /** When the answer was stored, see `SharedClock.steady`. */
  readonly steadyMs?: number;
  /** Another one for each state of a response. Absent in rows of answers, and of releases whose responses had one state. */
  readonly mark?: number;
}

interface Sent {
  readonly key: Key;
  readonly mark: number | undefined;
}

/** Version 1 was the wall time of then, of which nobody knows what steady time it was: those answers count as just stored. */
const UNSENT: RowVersions<Unsent> = { version: 2, upgrade: () => ({}) };

type OwnersKey = readonly [kind: "r" | "c", owner: string, id: string];

/** The version of a conversation that was sent. */
interface SentVersion {
  readonly owner: string;
  readonly id: string;
  readonly version: number;
}

const NO_BYTES = Buffer.alloc(0);
const ROWS_AT_ONCE = 50;
/** Where Redis is away for long, what is more is sent in the order of the table. */
const MOST_WAITED = 10_000;
const RETRY_MS = 1000;
const BYTES_AT_ONCE = 2 * 1024 * 1024;

export class Sender {
  readonly #options: SenderOptions;
  readonly #unsent: Table<Unsent>;
  #own: OwnRows | undefined;
  /** By the key's text: what somebody waits for goes first. */
  readonly #waited = new Map<string, { readonly key: Key; readonly done: (() => void)[] }>();
  #marks = randomInt(2 ** 40);
  #running: Promise<void> | undefined;
  #isRecovered = false;
  #isStopped = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#unsent = options.store.table("cells.unshared", UNSENT);
  }

  /** Claims of what waits. `requestId`: "" where it is not known any more, or a conversation is claimed. */
  *waiting(own: OwnRows): Generator<Pick<KeptAnswer, "fingerprint" | "requestId"> & { readonly id: string }> {
    for (const { key } of this.#unsent.range({ start: ["c"], end: ["d"] })) {
      const [, owner = "", id = ""] = key as string[];
      yield { id: claimOf(owner, id), fingerprint: "", requestId: "" };
    }
    for (const { key, value } of this.#unsent.range({ start: ["a"], end: ["b"] })) {
      const id = String((key as string[])[1]);
      const kept = own.answer(id);
      const answer = value.answer ?? kept;
      if (answer !== undefined)
        yield { id, fingerprint: answer.fingerprint, requestId: kept?.requestId ?? "" };
    }
  }

  unsentResponses(): (readonly [owner: string, id: string])[] {
    const rows = this.#unsent.range({ start: ["r"], end: ["s"] });
    return Array.from(rows, ({ key }) => (key as [string, string, string]).slice(1) as [string, string]);
  }

  /** Nothing is left to be sent. */
  isEmpty(): boolean {
    return this.#next().length === 0;
  }

  /** Sends what is left of former lives, and then ends their claims. */
  start(own: OwnRows): void {
    this.#own = own;
    this.#work();
  }

  /** In the act that stores the answer. */
  willShareAnswer(id: string, { orgId, fingerprint }: SharedAnswer): void {
    const steadyMs = this.#options.clock.steady();
    this.#unsent.put(["a", id], { answer: { orgId, fingerprint }, steadyMs });
  }

  /** In the act that stores the response. */
  willShareResponse(owner: string, id: string): void {
    this.#unsent.put(["r", owner, id], { mark: ++this.#marks });
  }

  /** In the act that stores the conversation. */
  willShareConversation(owner: string, id: string): void {
    this.#unsent.put(["c", owner, id], {});
  }

  /** Behind that act. Resolves once Redis has it, or where too many wait; never where this process may not go on. */
  shared(key: Key): Promise<void> {
    const text = key.join("/");
    return new Promise((resolve) => {
      const waited = this.#waited.get(text);
      if (waited === undefined && this.#waited.size >= MOST_WAITED) resolve();
      else if (waited === undefined) this.#waited.set(text, { key, done: [resolve] });
      else waited.done.push(resolve);
      this.#work();
    });
  }

  /** Resolves once all is sent, or Redis is away. What is left is sent after the next start. */
  async stop(withinMs: number): Promise<void> {
    await within(withinMs, this.idle());
    this.#isStopped = true;
  }

  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #work(): void {
    if (this.#own === undefined || this.#isStopped) return;
    this.#running ??= this.#run(this.#own).finally(() => {
      this.#running = undefined;
      if (this.#waited.size > 0) this.#work();
    });
  }

  async #run(own: OwnRows): Promise<void> {
    while (!this.#isStopped) {
      // What is answered in one turn of the event loop goes together.
      await nextTurn();
      try {
        const keys = this.#next();
        if (keys.length > 0) await this.#send(own, keys);
        else if (this.#isRecovered) return;
        else {
          await this.#options.lane.send([["claims_over"]]);
          this.#isRecovered = true;
        }
      } catch (error) {
        if (this.#isStopped) return;
        this.#options.onFailure(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  #next(): Key[] {
    const keys: Key[] = [];
    for (const { key } of this.#waited.values()) if (keys.push(key) === ROWS_AT_ONCE) return keys;
    if (keys.length > 0) return keys;
    return Array.from(this.#unsent.range({ limit: ROWS_AT_ONCE }), ({ key }) => key as unknown as Key);
  }

  async #send(own: OwnRows, keys: readonly Key[]): Promise<void> {
    const blobs = new Blobs();
    const operations: Operation[] = [];
    const versions: (SentVersion | undefined)[] = [];
    const sent: Sent[] = [];
    let bytes = 0;
    for (const key of keys) {
      const unsent = this.#unsent.get([...key]);
      // Sent already, or never stored.
      const made = unsent === undefined ? undefined : this.#operation(own, key, unsent, blobs);
      if (made !== undefined) {
        operations.push(made);
        versions.push(key[0] === "c" ? sentVersion(own, key) : undefined);
      }
      sent.push({ key, mark: unsent?.mark });
      bytes = blobs.list.reduce((sum, { length }) => sum + length, 0);
      if (bytes > BYTES_AT_ONCE) break;
    }
    const { lane, store, onShared, onSuperseded } = this.#options;
    const results = operations.length > 0 ? await lane.send(operations, blobs) : [];
    versions.forEach((one, i) => {
      const cell = String(results[i]?.[1] ?? "");
      if (one !== undefined && cell !== "") onSuperseded(cell, one.owner, one.id, one.version);
    });
    // No cell has changed the conversation meanwhile: it is claimed until it is told below that it is shared.
    const newest = sent.filter((each) => this.#isNewest(each));
    for (const { key } of newest) {
      if (key[0] === "a") onShared(key[1]);
      else if (key[0] === "c") onShared(claimOf(key[1], key[2]));
      const text = key.join("/");
      for (const done of this.#waited.get(text)?.done ?? []) done();
      this.#waited.delete(text);
    }
    const left = newest.filter(({ key }) => this.#unsent.get([...key]) !== undefined);
    if (left.length === 0) return;
    await store.act(
      () => {
        // Only in the act is it seen what was stored up to it.
        for (const each of left) if (this.#isNewest(each)) this.#unsent.remove([...each.key]);
      },
      { isOwed: true },
    );
  }

  /** Whether it was not stored anew, as a later state, since it was read to be sent. */
  #isNewest({ key, mark }: Sent): boolean {
    const unsent = this.#unsent.get([...key]);
    return unsent === undefined || unsent.mark === mark;
  }

  #operation(own: OwnRows, key: Key, unsent: Unsent, blobs: Blobs): Operation | undefined {
    if (key[0] === "a") return this.#answerOperation(own, key[1], unsent, blobs);
    return key[0] === "r"
      ? this.#responseOperation(own, key, blobs)
      : this.#conversationOperation(own, key, blobs);
  }

  #answerOperation(own: OwnRows, id: string, unsent: Unsent, blobs: Blobs): Operation {
    const { clock, forgotten, mostBytes } = this.#options;
    const answer = own.answer(id) ?? (unsent.answer && withoutBytes(unsent.answer));
    if (answer === undefined || forgotten.hasOrg(answer.orgId ?? "")) return ["unclaim_any", id];
    const nowMs = clock.steady();
    // A dataset that was restored or made anew may count steady time otherwise: age frees no key.
    const ageMs = Math.max(0, nowMs - (unsent.steadyMs ?? nowMs));
    const leftMs = Math.max(LEAST_ANSWER_MS, ANSWER_MS - ageMs);
    return answerOperation(id, answer, { blobs, leftMs, mostBytes });
  }

  #conversationOperation(own: OwnRows, [, owner, id]: OwnersKey, blobs: Blobs): Operation | undefined {
    const { clock, forgotten, mostBytes } = this.#options;
    const conversation = own.conversation(owner, id);
    if (conversation === undefined || forgotten.hasResponse(owner, id))
      return ["unclaim_any", claimOf(owner, id)];
    const leftMs = Math.floor(conversation.head.expiresMs - clock.now());
    if (leftMs <= 0) return ["unclaim_any", claimOf(owner, id)];
    return conversationOperation(owner, id, conversation, { blobs, leftMs, mostBytes });
  }

  #responseOperation(own: OwnRows, key: OwnersKey, blobs: Blobs): Operation | undefined {
    const { clock, forgotten, mostBytes } = this.#options;
    const [, owner, id] = key;
    const response = own.response(owner, id);
    if (response === undefined || forgotten.hasResponse(owner, id)) return undefined;
    const leftMs = Math.floor(response.expiresMs - clock.now());
    if (leftMs <= 0) return undefined;
    return responseOperation(owner, id, response, { blobs, leftMs, mostBytes });
  }
}

function sentVersion(own: OwnRows, [, owner, id]: OwnersKey): SentVersion {
  return { owner, id, version: own.conversation(owner, id)?.head.version ?? 0 };
}

/** What other cells get where the folder has already forgotten the answer, which it does by wall time: they refuse a repeated call. */
const withoutBytes = (answer: SharedAnswer): KeptAnswer => ({
  requestId: "",
  status: 0,
  isStream: false,
  lost: "evicted",
  body: NO_BYTES,
  ...answer,
});
