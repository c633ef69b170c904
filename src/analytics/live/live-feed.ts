/**
 * Hands on what is told of calls while they run to those who watch their org. A call that nobody watches costs a look into a map, twice,
 * and nothing is made of it; what is told of the others waits for the next turn of a timer, so that no call waits for it.
 */
import type { Timers } from "../../base/clock.ts";
import { sliced } from "../../base/lists.ts";
import { OrgFeed } from "../tail/org-feed.ts";
import { LiveMark } from "./live-mark.ts";
import type { CallWatch, RunningCall } from "./running-call.ts";

const PASS_ON_MS = 50;
/** What waits to be passed on, of all orgs; of more than this, watchers are told only how much it was. */
const MAX_WAITING = 2000;
/** What another cell is told at once. */
const SLICE = 250;

export class LiveFeed extends OrgFeed<LiveMark> implements CallWatch {
  readonly #timers: Timers;
  #waiting: LiveMark[] = [];
  readonly #missed = new Map<string, number>();
  #isArmed = false;

  constructor(timers: Timers) {
    super();
    this.#timers = timers;
  }

  started(call: RunningCall): void {
    this.#put(new LiveMark("started", call));
  }

  firstToken(call: RunningCall): void {
    this.#put(new LiveMark("firstToken", call));
  }

  /** Hands on all that waits, before it is told that one of these calls has ended. */
  passOn(): void {
    if (this.#waiting.length === 0 && this.#missed.size === 0) return;
    const passed = this.#waiting;
    this.#waiting = [];
    for (const mark of passed) this.receive(mark);
    if (this.relay !== undefined) for (const some of sliced(passed, SLICE)) this.relay.pass(some);
    for (const [orgId, count] of this.#missed) {
      this.miss(orgId, count);
      this.relay?.miss(orgId, count);
    }
    this.#missed.clear();
  }

  #put(mark: LiveMark): void {
    const { orgId } = mark;
    // After one that is missed none is kept, so that watchers are told of none before it.
    if (this.#waiting.length < MAX_WAITING && !this.#missed.has(orgId)) this.#waiting.push(mark);
    else this.#missed.set(orgId, (this.#missed.get(orgId) ?? 0) + 1);
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#timers.after(PASS_ON_MS, () => {
      this.#isArmed = false;
      this.passOn();
    });
  }
}
