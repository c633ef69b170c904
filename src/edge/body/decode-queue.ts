/**
 * Lets few bodies be decompressed at once: each decoder has windows of up to 16 MB, and the pieces of all that run are copied in the same
 * turn of the event loop. The others wait with the bytes that arrived, which the budget counts; orgs take turns, so that one that sends
 * hundreds keeps no other waiting for all of them.
 */
import { fail, type WeirError } from "../../base/errors.ts";

/** About as many as there are threads of the pool that decompresses. */
const AT_ONCE = 4;
/** Beyond it an org has one place, so that few orgs keep no other out. */
const MOST_WAITING = 1024;
/** Share of the places to wait in for the bodies of one org. */
const ORG_SHARE = 1 / 2;
const RETRY_AFTER_MS = 1000;

/** Begins to decompress. @param over is called once it has ended @returns a function that stops it: `over` is not called then */
type Begin = (over: () => void) => () => void;

export class DecodeQueue {
  #running = 0;
  #waiting = 0;
  /** By org, in the order in which their turns come. */
  readonly #byOrg = new Map<string, Set<() => void>>();

  /**
   * Begins now, or when others have ended.
   * @returns a function that stops it, or gives its place up
   * @throws WeirError 429 `concurrency` where too many wait
   */
  add(orgId: string, begin: Begin): () => void {
    // A place that is being given on is of those that wait.
    if (this.#running < AT_ONCE && this.#waiting === 0) return this.#run(begin);
    const ofOrg = this.#byOrg.get(orgId) ?? new Set();
    if (this.#waiting >= MOST_WAITING && ofOrg.size > 0)
      throw tooMany("Too many compressed bodies are under way");
    if (ofOrg.size >= MOST_WAITING * ORG_SHARE)
      throw tooMany("Too many compressed bodies of this organisation are under way");
    let stop = () => {
      if (!ofOrg.delete(start)) return;
      if (ofOrg.size === 0) this.#byOrg.delete(orgId);
      this.#waiting--;
    };
    const start = () => {
      stop = this.#run(begin);
    };
    this.#byOrg.set(orgId, ofOrg.add(start));
    this.#waiting++;
    return () => stop();
  }

  #run(begin: Begin): () => void {
    this.#running++;
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      this.#running--;
      // In a turn of its own: what ended may have ended at once, and so may the next.
      setImmediate(() => this.#next());
    };
    const stop = begin(over);
    return () => {
      if (isOver) return;
      stop();
      over();
    };
  }

  #next(): void {
    if (this.#running >= AT_ONCE) return;
    for (const [orgId, ofOrg] of this.#byOrg) {
      this.#byOrg.delete(orgId);
      for (const start of ofOrg) {
        ofOrg.delete(start);
        // Behind the other orgs.
        if (ofOrg.size > 0) this.#byOrg.set(orgId, ofOrg);
        this.#waiting--;
        start();
        return;
      }
    }
  }
}

const tooMany = (what: string): WeirError =>
  fail("concurrency", `${what}. Try again.`, { retryAfterMs: RETRY_AFTER_MS });
