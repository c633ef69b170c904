/**
 * Shadow calls: copies of calls that a policy sends to an endpoint on trial, and whose answers are discarded. The call itself is
 * answered, charged and recorded as if there were no copy: copies begin after its first bytes are on the way, are bounded in
 * number, size and time, and are dropped where they would have to wait.
 */
import type { Shadow } from "../routing/decision.ts";
import { LARGE_BODY_BYTES } from "../wire/contract.ts";
import type { ReservedCall } from "./call.ts";
import { Live } from "./live.ts";
import type { ShadowRun } from "./shadow-ending.ts";
import { Run, type RunDeps, type ShadowTask } from "./shadow-run.ts";

export interface ShadowDeps extends RunDeps {
  /** Copies under way at once. */
  readonly maxShadows: number;
  /** Whether the platform pays for copies where a policy says so; else the org does. */
  readonly platformShadows: boolean;
}

export interface ShadowCounts {
  /** Under way, or about to be. */
  readonly live: number;
  /** Copies that were sent and are over, since the start. */
  readonly sent: number;
  /** Drawn by a policy and not sent: too many at once, too large a body, no credit, an endpoint that saturated. */
  readonly dropped: number;
}

export interface Shadows {
  /**
   * Right after the call's own first attempt was started. Undefined where its plan has no shadow or no copy can be made now;
   * else `primaryEnded` of the run must be called when the call has ended, always. Never throws.
   */
  start(call: ReservedCall): ShadowRun | undefined;
  /** The sweep of all calls under way. @param nowMs monotonic */
  tick(nowMs: number): void;
  counts(): ShadowCounts;
  /** No copies from here on; those under way end now. What they cost so far is committed with the store's close. */
  stop(): void;
}

export const openShadows = (deps: ShadowDeps): Shadows => new BoundedShadows(deps);

class BoundedShadows implements Shadows {
  readonly #deps: ShadowDeps;
  readonly #live = new Live<Run>();
  #count = 0;
  #sent = 0;
  #dropped = 0;
  /**
   * Not yet launched, the oldest first. One is launched a turn of the event loop: its body is written once more, and a burst
   * of calls must not be followed by a burst of that which holds up the event loop.
   */
  #waiting: Run[] = [];
  #turn: NodeJS.Immediate | undefined;
  #isStopped = false;

  constructor(deps: ShadowDeps) {
    this.#deps = deps;
  }

  start(call: ReservedCall): ShadowRun | undefined {
    const { shadow: endpoint, decision } = call.plan;
    if (endpoint === undefined || decision.shadow === undefined) return undefined;
    const task = { original: call, endpoint, bill: this.#billOf(decision.shadow) };
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

  tick(nowMs: number): void {
    for (const run of this.#live.all()) run.tick(nowMs);
  }

  counts(): ShadowCounts {
    return { live: this.#count, sent: this.#sent, dropped: this.#dropped };
  }

  stop(): void {
    this.#isStopped = true;
    clearImmediate(this.#turn);
    this.#waiting = [];
    for (const run of this.#live.all()) run.cut();
  }

  #mayCopy({ original: call, endpoint, bill }: ShadowTask): boolean {
    // Its first attempt may have failed at once, and with it the call.
    if (this.#isStopped || call.settled || this.#count >= this.#deps.maxShadows) return false;
    // Larger ones are written in a thread that calls wait for.
    if (call.request.bytes.length > LARGE_BODY_BYTES) return false;
    // The planner sees to it; a prompt in the wrong place could not be taken back.
    if (call.isZdr && !endpoint.dataPolicy.zdr) return false;
    // An org may forbid calls with the gateway's credential at a provider; with its own credential it would be billed there.
    if (bill === "platform" && call.ownKeys?.platformFallback(endpoint.provider.id) === false) return false;
    return this.#deps.store.healthy();
  }

  #billOf({ bill }: Shadow): Shadow["bill"] {
    return this.#deps.platformShadows ? bill : "org";
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
