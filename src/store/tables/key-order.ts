/** How parts of keys sort, for ranges over those that share a beginning. */

/** Greater than any id, slug or other part of a key in letters, digits, `_` and `-`: `end: [orgId, PAST_IDS]` is all of an org. */
export const PAST_IDS = "~";
