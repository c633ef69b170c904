/** One key for a part of a choice, for what is kept of the parts of a stream under way. */

/** Parts of a choice are counted from 0 and never as many as this. */
const MOST_PARTS = 1_000_000;

export const partKey = (choice: number, part: number): number => choice * MOST_PARTS + part;
