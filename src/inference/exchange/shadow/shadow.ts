/**
 * Shadow calls: copies of calls that a policy sends to an endpoint on trial and whose answers are discarded. The call itself
 * is answered, charged and recorded as if there were no copy. Copies begin after the call's first attempt was started, are
 * limited in number, size and time, and are dropped if they would have to wait.
 */
import { LARGE_BODY_BYTES } from "../../../wire/neutral/contract.ts";
import type { ReservedCall } from "../call.ts";
import { Live } from "../live/live.ts";
import type { ShadowRun } from "./shadow-ending.ts";
import { Run, type RunDeps, type ShadowTask } from "./shadow-run.ts";

export interface ShadowDeps extends RunDeps {
  /** Maximum number of copies at once. */
  readonly maxShadows: number;
  /** Whether the platform pays for copies if a policy says so; otherwise the org does. */
  readonly platformShadows: boolean;
  /** Whether calls of the org wait for credit: they come before copies. */
  readonly isAwaited: (orgId: string) => boolean;
}

export interface ShadowCounts {
  /** Running, or about to be sent. */
  readonly live: number;
  /** Copies that were sent and have ended, since the start. */
  readonly sent: number;
  /** Copies that were drawn and not sent: too many at once, too large a body, no credit, a saturated endpoint. */
  readonly dropped: number;
}

export const openShadows = (deps: ShadowDeps): Shadows => new Shadows(deps);

export class Shadows {
  readonly #deps: ShadowDeps;
  readonly #live = new Live<Run>();
  #count = 0;
  #sent = 0;
  #dropped = 0;
  /**
   * Copies to be launched, the oldest first. One is launched per turn of the event loop: its body is written once more, and
   * a burst of calls must not cause a burst of copies that blocks the event loop.
   */
  #waiting: Run[] = [];
  #turn: NodeJS.Immediate | undefined;
  #isStopped = false;

  constructor(deps: ShadowDeps) {
    this.#deps = deps;
  }

  /**
   * Starts the copy of a call; call it right after the call's first attempt was started. Undefined if its plan has no shadow
   * or no copy can be made now; otherwise `primaryEnded` of the run must be called when the call has ended. Never throws.
   */
  start(call: ReservedCall): ShadowRun | undefined {
    const { shadow: endpoint, decision } = call.plan;
    if (endpoint === undefined || decision.shadow === undefined) return undefined;
    const bill = this.#deps.platformShadows ? decision.shadow.bill : "org";
    const task: ShadowTask = { original: call, endpoint, bill };
    if (!this.#mayCopy(task)) {
      this.#dropped++;
      return undefined;
    }
    const run = new Run(this.#deps, task, (over, wasSent) => this.#over(over, wasSent));
    this.#count++;
    this.#live.add(run);
    this.#waiting.push(run);
    this.#turn ??= setImmediate(this.#launchNext);
    return run;
  }

  /** Checks the copies' deadlines, once a second. @param nowMs monotonic */
  tick(nowMs: number): void {
    for (const run of this.#live.all()) run.tick(nowMs);
  }

  counts(): ShadowCounts {
    return { live: this.#count, sent: this.#sent, dropped: this.#dropped };
  }

  /** Starts no more copies and ends those that run. Their cost so far is committed when the store closes. */
  stop(): void {
    this.#isStopped = true;
    clearImmediate(this.#turn);
    this.#waiting = [];
    for (const run of this.#live.all()) run.stop();
  }

  #mayCopy({ original: call, endpoint, bill }: ShadowTask): boolean {
    // The first attempt may have failed at once, and the call with it.
    if (this.#isStopped || call.settled || this.#count >= this.#deps.maxShadows) return false;
    // The copy would have the client's limit, and be compared with an answer that had a lower one.
    if (call.reservation.fit !== undefined) return false;
    // Larger bodies are written in a thread that calls wait for.
    if (call.request.bytes.length > LARGE_BODY_BYTES) return false;
    // The budget counts fetched media until the call is over, and its copy may take longer.
    if (call.request.fetched !== undefined) return false;
    // The planner excludes such endpoints; checked again because a prompt in the wrong place cannot be taken back.
    if (call.isZdr && !endpoint.dataPolicy.zdr) return false;
    // An org may forbid calls with the gateway's credential at a provider; with the org's own credential the org would be
    // billed.
    if (bill === "platform" && call.ownKeys?.platformFallback(endpoint.provider.id) === false) return false;
    if (bill === "org" && this.#deps.isAwaited(call.key.orgId)) return false;
    return this.#deps.store.healthy();
  }

  readonly #launchNext = (): void => {
    this.#waiting.shift()?.launch();
    this.#turn = this.#waiting.length > 0 ? setImmediate(this.#launchNext) : undefined;
  };

  #over(run: Run, wasSent: boolean): void {
    this.#live.remove(run);
    this.#count--;
    if (wasSent) this.#sent++;
    else this.#dropped++;
  }
}
