/**
 * Commits acts that change shared rows. Acts that wait run one on top of the other, as a group, on the rows of one version, and go to
 * the dataset in one exchange. It commits them up to the first one that would read something else today; that one and those after
 * it are undone and run again on newer rows. A cell whose acts were refused three times asks for the ticket, with which it commits
 * alone for a moment: so no act starves beside a thousand others.
 */
import { type Clock, nextTurn } from "../../../base/clock.ts";
import { fail } from "../../../base/errors.ts";
import { Blobs, type Lane, NotSent, type Operation } from "../exchange/exchange.ts";
import type { Beats } from "../membership/beats.ts";
import { NO_FUNDS, type OrgFunds, readFunds } from "./act-credit.ts";
import type { Follower } from "./follower.ts";
import { type GroupDeps, type Item, runGroup, type Sent, type Waiting } from "./group-run.ts";
import type { Change, Entry, Position } from "./replica.ts";
import type { RunJournal } from "./run-journal.ts";

export interface CommitterDeps extends GroupDeps {
  readonly lane: Lane;
  readonly beats: Beats;
  readonly follower: Follower;
  readonly journal: RunJournal;
  readonly clock: Clock;
  /** Runs `read` where it sees all rows of this cell, committed or not, and gives it their position. */
  readonly onRows: (read: (position: Position) => void) => void;
  readonly cell: string;
  readonly life: () => string;
  /** In which cells write now: it never falls. */
  readonly format: () => number;
  /** Nothing can be committed any more: the process may not go on. */
  readonly onFault: (error: Error) => void;
}

const REFUSALS_BEFORE_TICKET = 3;
const RETRY_MS = 10;
/**
 * A cell that is away gives nothing back. After so many tries a posting that may overdraw is made, and any other act sees what is
 * leased as held.
 */
const MOST_RECALLS = 50;
/** An act is answered at the latest so long after its commit, even if a cell has not applied it. */
export const EVERYWHERE_MS = 1000;
/** An act that is not owed is refused when it was not committed after this long. */
const UNCOMMITTED_MS = 5000;
/** An act that is not owed, and was sent, is answered after this long with the word that its outcome is not known. */
const UNKNOWN_MS = 10_000;
const LOOK_MS = 250;

const notCommitted = () =>
  fail("storage_unavailable", "This could not be stored now, and was not.", { retryAfterMs: 1000 });

/** Only for a run that may have been committed. */
const outcomeUnknown = () =>
  fail("storage_unavailable", "It is not known whether this was stored: look before you try again.", {
    retryable: false,
    details: { outcome: "unknown" },
  });

export class Committer {
  readonly #deps: CommitterDeps;
  #waiting: Waiting[] = [];
  /** Acts that take credit, while some cells have yet to say what they have leased. That may take long, so other acts do not wait for it. */
  #aside: Waiting[] = [];
  /** By number: runs whose entry has not come by the stream yet. */
  readonly #sent = new Map<number, Sent>();
  #runs = 0;
  /** The newest version this cell knows it has to have seen before its next group. */
  #needed = 0;
  #working: Promise<void> | undefined;
  #ended = false;
  #forgetting: Promise<void> = Promise.resolve();
  #lookTimer: NodeJS.Timeout | undefined;
  /** Takes back the group that is on its way, if it was not sent. */
  #takeBack: AbortController | undefined;

  /** Runs of acts. */
  readonly counts = { committed: 0, refused: 0 };

  constructor(deps: CommitterDeps) {
    this.#deps = deps;
  }

  get pending(): number {
    return this.#waiting.length + this.#aside.length + this.#sent.size;
  }

  /**
   * Resolves once the act is committed, stored here, and known to every live cell. One that is not owed waits 5 s for its commit.
   * @throws WeirError `storage_unavailable`; with `details.outcome` "unknown" where the act may have been committed
   */
  commit<T>(act: () => T, isOwed: boolean): Promise<T> {
    if (this.#ended) return Promise.reject(notCommitted());
    return new Promise<T>((resolve, reject) => {
      const sinceMs = this.#deps.clock.monotonic();
      const settle = { resolve: resolve as (value: unknown) => void, reject };
      this.#waiting.push({ act, ...settle, isOwed, sinceMs, refusals: 0, recalls: 0, orgs: [] });
      this.#lookTimer ??= setInterval(() => this.#look(), LOOK_MS).unref();
      this.#work();
    });
  }

  /** In an act: rows of this cell's own tables that one of its acts wrote, to be stored with the entry. */
  also(entry: Entry): readonly Change[] {
    return this.#deps.journal.take(entry);
  }

  applied(entries: readonly Entry[]): void {
    const prefix = `${this.#deps.cell}:${this.#deps.life()}:`;
    for (const { origin, version } of entries) {
      if (origin.startsWith(prefix)) this.#applied(Number(origin.slice(prefix.length)), version);
    }
  }

  /** All rows were loaded, with the runs of this cell up to this one: their entries will not come. */
  loaded(lastRun: string, version: number): void {
    this.#needed = 0;
    const upTo = this.#numberOf(lastRun);
    for (const { run } of [...this.#sent.values()]) if (run.id <= upTo) this.#applied(run.id, version);
  }

  /** A new term: runs behind the dataset's last one that were committed in an earlier term are lost, and run again. */
  restated(lastRun: string): void {
    const upTo = this.#numberOf(lastRun);
    // Those that were applied too: the rows of this cell are loaded anew, and their callers have not been told yet.
    const lost = [...this.#sent.values()].filter((sent) => sent.isCommitted && sent.run.id > upTo);
    for (const sent of lost.toReversed()) this.#drop(sent);
    this.#needed = 0;
    this.#waiting.unshift(...lost.filter(({ isAnswered }) => !isAnswered).map(({ waiting }) => waiting));
    this.#forgetting = this.#forget(lost);
    if (lost.length > 0) this.#work();
  }

  /** This process may not go on. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#lookTimer);
    this.#takeBack?.abort();
    for (const { reject } of [...this.#waiting.splice(0), ...this.#aside.splice(0)]) reject(notCommitted());
    for (const sent of [...this.#sent.values()].toReversed()) {
      this.#sent.delete(sent.run.id);
      if (sent.isCommitted || sent.isApplied) sent.waiting.resolve(sent.value);
      else {
        sent.run.drop();
        sent.waiting.reject(outcomeUnknown());
      }
    }
  }

  /** Resolves once nothing waits. */
  async idle(): Promise<void> {
    while (this.pending > 0) {
      await this.#working;
      if (this.pending > 0) await pause();
    }
    clearInterval(this.#lookTimer);
    this.#lookTimer = undefined;
  }

  /** The number of a run of this life; of other lives, none here. */
  #numberOf(lastRun: string): number {
    const prefix = `${this.#deps.life()}:`;
    return lastRun.startsWith(prefix) ? Number(lastRun.slice(prefix.length)) : 0;
  }

  #applied(id: number, version: number): void {
    const sent = this.#sent.get(id);
    if (sent === undefined) return;
    sent.isApplied = true;
    // However long another cell takes, what is committed is answered.
    void this.#deps.beats.everyoneHas(version, EVERYWHERE_MS).then(() => {
      sent.isEverywhere = true;
      this.#answerIfDone(sent);
    });
  }

  /** Replicas of Redis have what was replied to; the stream may be ahead of that. */
  #answerIfDone(sent: Sent): void {
    if (!sent.isCommitted || !sent.isEverywhere || this.#sent.get(sent.run.id) !== sent) return;
    this.#sent.delete(sent.run.id);
    sent.waiting.resolve(sent.value);
  }

  #work(): void {
    if (this.#ended) return;
    this.#working ??= this.#groups()
      .catch((error: unknown) => {
        this.end();
        this.#deps.onFault(error as Error);
      })
      .finally(() => {
        this.#working = undefined;
        if (this.#waiting.length > 0) this.#work();
      });
  }

  async #groups(): Promise<void> {
    const { follower } = this.#deps;
    // Acts of one turn of the event loop share the first group.
    await nextTurn();
    while (this.#waiting.length > 0) {
      const hasTicket = this.#waiting.some(({ refusals }) => refusals >= REFUSALS_BEFORE_TICKET);
      if (hasTicket) await this.#takeTicket();
      const funds = await this.#fundsOf(this.#waiting[0]);
      await follower.reached(this.#needed);
      let base: Position | undefined;
      const items: Item[] = [];
      this.#deps.onRows((position) => {
        base = position;
        items.push(...runGroup(this.#deps, this.#waiting, () => ++this.#runs, funds));
      });
      if (base === undefined) throw new Error("the cell's store is closed");
      if (items.some((item) => "run" in item)) await this.#send(base, items, hasTicket);
      else if (funds.size > 0) await this.#deps.lane.send([["credit_thaw", ...funds.keys()]]);
    }
  }

  async #send(base: Position, items: readonly Item[], hasTicket: boolean): Promise<void> {
    const { isShared, journal, lane, life, format } = this.#deps;
    const group = items.filter((item): item is Sent => "run" in item);
    await this.#forgetting;
    const own = group.map(({ run }) => [run.id, run.ownChanges(isShared)] as const);
    await journal.keep(life(), new Map(own.filter(([, changes]) => changes.length > 0)));
    const blobs = new Blobs();
    const acts = group.map(({ run, waiting }) =>
      run.asOperation(isShared, blobs, waiting.recalls >= MOST_RECALLS),
    );
    const operations: Operation[] = [["acts", base.version, base.origin, acts, format()]];
    const orgs = group.flatMap(({ waiting }) => waiting.orgs);
    if (orgs.length > 0) operations.push(["credit_thaw", ...orgs]);
    if (hasTicket) operations.push(["release"]);
    for (const sent of group) this.#sent.set(sent.run.id, sent);
    this.#takeBack = new AbortController();
    try {
      const [[committed, version, why] = []] = await lane.send(operations, blobs, this.#takeBack.signal);
      this.#needed = Number(version);
      if (this.#ended) return;
      await this.#replied(items, Number(committed), String(why), base);
    } catch (error) {
      if (!(error instanceof NotSent)) throw error;
      await this.#putBack(items, "wait");
      this.#look();
    } finally {
      this.#takeBack = undefined;
    }
  }

  async #replied(items: readonly Item[], committed: number, why: string, base: Position): Promise<void> {
    let done = 0;
    let first = items.length;
    for (const [at, item] of items.entries()) {
      if (!("run" in item)) {
        // It threw on what those before it had done, who did it.
        item.waiting.reject(item.error);
      } else if (done === committed) {
        first = at;
        break;
      } else {
        done++;
        item.isCommitted = true;
        this.#answerIfDone(item);
      }
    }
    this.counts.committed += done;
    if (why !== "" && first < items.length) this.counts.refused++;
    if (why === "past") this.#deps.follower.doubt(base.version, base.origin);
    if (first < items.length) await this.#putBack(items.slice(first), why);
  }

  async #putBack(refused: readonly Item[], why: string): Promise<void> {
    const runs = refused.filter((item): item is Sent => "run" in item);
    for (const sent of runs.toReversed()) this.#drop(sent);
    // Those after the first were refused for its sake.
    const waiting = refused.map((item, at) => (at === 0 ? refusedFor(why, item.waiting) : item.waiting));
    const left = waiting.filter((_, at) => (refused[at] as Partial<Sent>).isAnswered !== true);
    // An act that takes credit is a group of its own: others need not wait for what it waits for.
    if (why === "awaited") this.#aside.push(...left);
    else if (why === "recall") this.#waiting.push(...left);
    else this.#waiting.unshift(...left);
    await this.#forget(runs);
    if (why !== "stale") await pause();
  }

  async #forget(runs: readonly Sent[]): Promise<void> {
    const { journal, life } = this.#deps;
    await journal.forget(
      life(),
      runs.map(({ run }) => run.id),
    );
  }

  #drop(sent: Sent): void {
    sent.run.drop();
    this.#sent.delete(sent.run.id);
  }

  /** Answers acts that are not owed and have waited for too long. */
  #look(): void {
    const nowMs = this.#deps.clock.monotonic();
    const isLate = ({ isOwed, sinceMs }: Waiting, ms: number) => !isOwed && nowMs - sinceMs > ms;
    if (this.#deps.beats.latest.restating === 0) this.#waiting.push(...this.#aside.splice(0));
    const late = [...this.#waiting, ...this.#aside].filter((waiting) => isLate(waiting, UNCOMMITTED_MS));
    this.#waiting = this.#waiting.filter((waiting) => !late.includes(waiting));
    this.#aside = this.#aside.filter((waiting) => !late.includes(waiting));
    for (const { reject } of late) reject(notCommitted());
    if (this.#waiting.length > 0) this.#work();
    for (const sent of this.#sent.values()) {
      const { waiting } = sent;
      if (isLate(waiting, UNCOMMITTED_MS)) this.#takeBack?.abort();
      if (!isLate(waiting, UNKNOWN_MS) || sent.isAnswered) continue;
      sent.isAnswered = true;
      if (sent.isCommitted) waiting.resolve(sent.value);
      else waiting.reject(outcomeUnknown());
    }
    if (this.pending > 0) return;
    clearInterval(this.#lookTimer);
    this.#lookTimer = undefined;
  }

  /** The credit of orgs, which stays as it is until the act that reads it is committed or refused, at most some hundred ms. */
  async #fundsOf(next: Waiting | undefined): Promise<ReadonlyMap<string, OrgFunds>> {
    const { orgs = [], recalls = 0 } = next ?? {};
    if (orgs.length === 0) return NO_FUNDS;
    for (;;) {
      const [answer = []] = (await this.#deps.lane.send([["credit_freeze", ...orgs]])) as number[][];
      const [isFrozen, version = 0, ...values] = answer;
      if (isFrozen === 1) {
        this.#needed = Math.max(this.#needed, version);
        return readFunds(orgs, values, recalls >= MOST_RECALLS);
      }
      await pause();
    }
  }

  async #takeTicket(): Promise<void> {
    for (;;) {
      const [[has] = []] = await this.#deps.lane.send([["ticket"]]);
      if (has === 1) break;
      await pause();
    }
    const { version } = await this.#deps.beats.now();
    this.#needed = Math.max(this.#needed, version);
  }
}

/** An act that runs again, with what it was refused for. */
const refusedFor = (why: string, waiting: Waiting): Waiting => ({
  ...waiting,
  refusals: waiting.refusals + (why === "stale" ? 1 : 0),
  recalls: waiting.recalls + (why === "recall" ? 1 : 0),
});

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, RETRY_MS));
