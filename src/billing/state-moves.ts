/**
 * State machines as tables: which moves a thing has, from which states, and who makes them. A move that the table lacks is
 * refused; a move to the state that the thing is in already is the same move made twice. `docs/` prints these tables.
 */
import { fail } from "../base/errors.ts";

export interface Move<S extends string> {
  readonly from: readonly S[];
  readonly to: S;
  /** Who makes it: `the payment gateway`, `an owner`, `time`. */
  readonly by: string;
  /** What is put with it. */
  readonly puts: string;
}

export type Moves<S extends string> = Readonly<Record<string, Move<S>>>;

/** Fixes the states, so that a table names no other. */
export const moves =
  <S extends string>() =>
  <T extends Moves<S>>(table: T): T =>
    table;

/** Whether the thing may make this move, or has made it already. */
export const isPossible = <S extends string>({ from, to }: Move<S>, state: S): "now" | "made" | "never" =>
  from.includes(state) ? "now" : state === to ? "made" : "never";

/**
 * @param what for the message, such as `top-up`
 * @returns the state after it; undefined where it was made already
 * @throws WeirError 409 `state`
 */
export function after<S extends string>(move: Move<S>, state: S, what: string): S | undefined {
  const possible = isPossible(move, state);
  if (possible === "never") throw fail("state", `The ${what} is ${state}, which does not allow this.`);
  return possible === "now" ? move.to : undefined;
}
