/** Types of `console-digest.mjs`, which runs before TypeScript can. */
export const BUILT: string;
export const MADE_FROM: string;
export function consoleDigest(root: string): string;
