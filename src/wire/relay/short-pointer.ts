/** Pointers into requests, as warnings and records have them. */

/** Most characters: names are the caller's, and records are kept for long. */
const MAX_POINTER = 128;

/** As much of a JSON pointer as callers are told. */
export const shortPointer = (pointer: string): string =>
  pointer.length <= MAX_POINTER ? pointer : `${pointer.slice(0, MAX_POINTER)}…`;
