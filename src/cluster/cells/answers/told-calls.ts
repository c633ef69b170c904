/**
 * Calls that outlive their clients, as other cells know them where their own cell is gone: whose they are, and in which format their end is
 * told. A call is told of as it begins, and not waited for; all of one turn of the event loop go together.
 */
import { nextTurn } from "../../../base/clock.ts";
import { sliced } from "../../../base/lists.ts";
import type { Cell } from "../cell.ts";
import type { Operation } from "../exchange/exchange.ts";
import type { RedisValue } from "../redis/redis.ts";
import { within } from "../within.ts";

export interface ToldCallsOptions {
  /** A lane that only this part uses. */
  readonly lane: { send(operations: readonly Operation[]): Promise<RedisValue[][]> };
  /** The term that Redis is in, as far as the cell has heard. */
  readonly term: () => string;
  /** Calls of an org that this cell tells of; the oldest give way to newer ones. Default: 10,000. */
  readonly mostOfOrg?: number;
}

/** A call as its cell tells of it: its id, its org, and whatever else there is, as JSON has it. */
export interface ToldCall {
  readonly id: string;
  readonly orgId: string;
}

const MOST_OF_ORG = 10_000;
const CALLS_AT_ONCE = 500;

export class ToldCalls {
  readonly #options: ToldCallsOptions;
  /** By org, the oldest first. */
  readonly #orgs = new Map<string, Map<string, ToldCall>>();
  /** What Redis was not told yet. */
  readonly #begun = new Map<string, ToldCall>();
  readonly #over = new Set<string>();
  /** Redis was told that nothing counts that it had heard of this cell before. */
  #isFormerOver = false;
  /** The term in which all is told that is not left. */
  #term: string;
  #hasStarted = false;
  /** No call gave way to a newer one, so that Redis is told of each call that this cell has. */
  #isAll = true;
  #hasEnded = false;
  #running: Promise<void> | undefined;
  #runs = 0;

  constructor(options: ToldCallsOptions) {
    this.#options = options;
    this.#term = options.term();
  }

  /** To be called once other cells can ask this one about the calls of its former lives, and `tell` was given those. */
  start(): void {
    this.#hasStarted = true;
    this.#work();
  }

  tell(call: ToldCall): void {
    const { mostOfOrg = MOST_OF_ORG } = this.#options;
    const { id, orgId } = call;
    const calls = this.#orgs.get(orgId) ?? new Map<string, ToldCall>();
    this.#orgs.set(orgId, calls);
    calls.set(id, call);
    this.#begun.set(id, call);
    for (const oldest of calls.values()) {
      if (calls.size <= mostOfOrg) break;
      this.#isAll = false;
      this.takeBack(oldest);
    }
    this.#work();
  }

  /** Its stream cannot be read any more. Nothing where it was not told of, or of a former life. */
  takeBack({ id, orgId }: ToldCall): void {
    const calls = this.#orgs.get(orgId);
    if (calls?.delete(id) !== true) return;
    if (calls.size === 0) this.#orgs.delete(orgId);
    // It may be on its way.
    this.#begun.delete(id);
    this.#over.add(id);
    this.#work();
  }

  /**
   * In a new term, which may have lost some, and may have those again that were taken back. Behind its beginning, and a part at a time:
   * credit is not held up by them.
   */
  restate(): void {
    this.#isFormerOver = false;
    this.#term = this.#options.term();
    for (const calls of this.#orgs.values()) for (const [id, call] of calls) this.#begun.set(id, call);
    this.#work();
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** What this life told of is forgotten some minutes from now, if Redis answers. What it did not tell of, it does not have. */
  async stop(withinMs: number): Promise<void> {
    await within(
      withinMs,
      this.#leave().catch(() => {}),
    );
  }

  /**
   * Says that the cell stops, and says it again where a new term began meanwhile, because that is told all calls once more. It goes on
   * when `stop` has given up: Redis may answer later, and be a replica that lacks some calls.
   */
  async #leave(): Promise<void> {
    for (let runs = -1; runs !== this.#runs; ) {
      await this.idle();
      runs = this.#runs;
      const isAll = this.#hasStarted && this.#isAll;
      await this.#options.lane.send([["calls_left", isAll ? this.#term : ""]]);
    }
    this.#hasEnded = true;
  }

  #work(): void {
    if (!this.#hasStarted || this.#hasEnded || this.#running !== undefined || !this.#isLeft()) return;
    this.#runs++;
    this.#running = this.#run();
  }

  #isLeft(): boolean {
    return !this.#isFormerOver || this.#begun.size > 0 || this.#over.size > 0;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isLeft()) {
        await nextTurn();
        const former: Operation[] = this.#isFormerOver ? [] : [["calls_former"]];
        // Before the wait, in which a term may begin.
        this.#isFormerOver = true;
        await this.#options.lane.send([...former, ["calls", this.#takeBegun(), this.#takeOver()]]);
      }
    } catch {
      // The session has told whoever must know that this process may not go on.
      this.#hasEnded = true;
    } finally {
      this.#running = undefined;
    }
  }

  #takeBegun(): string[] {
    // A copy of all, which may be hundreds of thousands, for each part of them would hold up the calls.
    const [some = []] = sliced(this.#begun.values(), CALLS_AT_ONCE);
    for (const { id } of some) this.#begun.delete(id);
    return some.flatMap(fieldsOf);
  }

  #takeOver(): string[] {
    const [some = []] = sliced(this.#over, CALLS_AT_ONCE);
    for (const id of some) this.#over.delete(id);
    return some;
  }
}

export function openToldCalls(cell: Pick<Cell, "lane" | "restates" | "term">): ToldCalls {
  const told = new ToldCalls({ lane: cell.lane("calls"), term: cell.term });
  const operations = () => {
    told.restate();
    return [];
  };
  cell.restates({ operations, isSettled: () => true });
  return told;
}

const fieldsOf = (call: ToldCall): [id: string, text: string] => [call.id, JSON.stringify(call)];
