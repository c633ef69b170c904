/** What becomes of a call whose client goes away. */

export const ON_DISCONNECT = ["cancel", "drain", "detach"] as const;

/**
 * `cancel`: its upstream call is closed, and what was delivered is charged. `drain`: its answer is read to the end within a bounded
 * time and dropped, and is charged as reported. `detach`: it goes on as if its client were there, and can be read again.
 */
export type OnDisconnect = (typeof ON_DISCONNECT)[number];
