/** Names of keys in Redis; `scripts/` has the others, and says what is in them. */

/** All keys carry this hash tag: an act is one script, which Redis Cluster lets reach one slot only. */
export const KEY_PREFIX = "{weir}:";
export const DATASET_KEY = `${KEY_PREFIX}dataset`;
