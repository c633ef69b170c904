/**
 * Which call a result answers. Some servers begin their ids anew each turn, and some give all calls of a turn the same one, or an
 * empty one: results of calls that share an id come in the order of the calls.
 */

/** Calls of one id in one turn. */
interface Open<T> {
  readonly turn: number;
  readonly first: T;
  /** Those after the first; undefined for none. */
  more: T[] | undefined;
  /** The place of the first call that has no result. */
  next: number;
}

/** @typeParam T what is known of a call */
export class OpenCalls<T> {
  readonly #open = new Map<string, Open<T>>();
  /** Counts the changes from the user to the model. */
  #turn = 0;
  #isOfModel = false;

  /** What follows is said by the model, or by others. */
  by(isModel: boolean): void {
    if (isModel && !this.#isOfModel) this.#turn++;
    this.#isOfModel = isModel;
  }

  /** @param id as the client gave it */
  call(id: string, known: T): void {
    const open = this.#open.get(id);
    if (open?.turn !== this.#turn)
      this.#open.set(id, { turn: this.#turn, first: known, more: undefined, next: 0 });
    else if (open.more === undefined) open.more = [known];
    else open.more.push(known);
  }

  /** What is known of the call that a result answers; undefined where no call had the id. A result too many is one of the last call. */
  result(id: string): T | undefined {
    const open = this.#open.get(id);
    if (open === undefined) return undefined;
    const { first, more, next } = open;
    if (next < (more?.length ?? 0)) open.next++;
    return next === 0 ? first : more?.[next - 1];
  }
}
