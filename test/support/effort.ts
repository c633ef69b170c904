/**
 * How much is done by tests that try very many inputs: an eighth of the rounds and every 13th cut in `npm test`, all of
 * them in `npm run fuzz`. Where a seed is given, what fails in the part fails in the whole.
 */
const isThorough = process.env.WEIR_FUZZ_ROUNDS !== undefined;

/** @param all rounds of a thorough run */
export const rounds = (all: number): number => (isThorough ? all : Math.ceil(all / 8));

/** Distance in characters between the places at which a stream is cut in two. */
export const CUT_STEP = isThorough ? 1 : 13;
