/**
 * How much is done by tests that try very many inputs, or do something dear very often: a part in `npm test`, all of it in
 * `npm run test:thorough` and `npm run fuzz`. Where a seed is given, what fails in the part fails in the whole.
 */
export const isThorough = (process.env.WEIR_THOROUGH ?? process.env.WEIR_FUZZ_ROUNDS) !== undefined;

/** An eighth of the rounds in `npm test`. @param all rounds of a thorough run */
export const rounds = (all: number): number => amount(all, Math.ceil(all / 8));

/** Distance in characters between the places at which a stream is cut in two. */
export const CUT_STEP = isThorough ? 1 : 13;

/**
 * An amount of something dear, such as kills, clients or bytes.
 * @param all in a thorough run
 * @param part in `npm test`: the least that can still fail for the test's own reason
 */
export function amount(all: number, part: number): number {
  return isThorough ? all : part;
}
