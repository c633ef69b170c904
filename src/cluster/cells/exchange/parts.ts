/** What the parts of a cell (credit, budgets, limits, answers, records) say to the dataset at the beginning of a term, and at its end. */
import type { RedisValue } from "../redis/redis.ts";
import { type Operation, type Session, TERM_LANE } from "./exchange.ts";

/** What a part of the cell knows that decides what other cells may be granted. */
export interface Restating {
  /** Said at the beginning of each new term, before any cell is granted anything. */
  operations(): readonly Operation[];
  /**
   * Hears the answers to its operations. Where Redis lacks what it had confirmed, the process may not go on: why. Nothing is granted
   * then until the newer data are back, or the cell is retired.
   */
  lacking?(answers: readonly RedisValue[][]): Error | undefined;
  /** Whether the dataset knows all of it, and has back what the part leased: no later term needs to wait for this process. */
  isSettled(): boolean;
}

export interface Inserting {
  /** Calls that ended before have their records in ClickHouse: milliseconds since 1970, 0 if that is not known. */
  untilMs(): number;
  /** Whether all records are there. */
  isDone(): boolean;
}

export class Parts {
  readonly #parts: Restating[] = [];
  /** None is added any more. */
  areOpen = false;
  inserting: Inserting = { untilMs: () => 0, isDone: () => false };

  add(part: Restating): void {
    if (this.areOpen) throw new Error("a part that restates was opened too late");
    this.#parts.push(part);
  }

  /**
   * Says what all parts know, between other operations. @returns all answers
   * @throws Error where Redis lacks what a part knows to be confirmed: the process may not go on
   */
  async say(
    session: Session,
    before: readonly Operation[],
    behind: readonly Operation[],
  ): Promise<RedisValue[][]> {
    const said = this.#parts.map((part) => ({ part, operations: part.operations() }));
    const all = said.flatMap(({ operations }) => operations);
    const answers = await session.lane(TERM_LANE).send([...before, ...all, ...behind]);
    let at = before.length;
    for (const { part, operations } of said) {
      const reason = part.lacking?.(answers.slice(at, at + operations.length));
      at += operations.length;
      if (reason === undefined) continue;
      session.end(reason);
      throw reason;
    }
    return answers;
  }

  /** Before all are open, what the folder holds is not known. */
  areSettled(): boolean {
    return this.areOpen && this.#parts.every((part) => part.isSettled());
  }
}
