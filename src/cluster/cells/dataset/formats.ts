/**
 * Formats of what cells write for each other: rows of shared tables, entries of the stream, operations of exchanges. A release that
 * changes one of them so that the release before could not read it has one format more. While releases run beside each other, all
 * write the newest format that each of them reads: so a cell is upgraded beside others, one by one.
 */

/** What one release reads and writes: each format from the oldest to the newest. */
export interface Formats {
  readonly oldest: number;
  readonly newest: number;
}

/** Formats of this release. The first release with cells had format 1. */
export const FORMATS: Formats = { oldest: 1, newest: 1 };

/** Another cell wrote what this release cannot read. */
export class LaterFormat extends Error {
  constructor(found: number, { newest }: Formats) {
    super(`other cells write format ${found}, and this release reads up to ${newest}: start theirs`);
  }
}
