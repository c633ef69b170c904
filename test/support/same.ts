import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/**
 * What `expect(actual, message).toEqual(wanted)` says, for comparisons made thousands of times: `expect` is called only
 * to tell a difference, as each of its calls costs more than most of what is compared.
 */
export function expectSame(actual: unknown, wanted: unknown, message?: string): void {
  if (!isDeepStrictEqual(actual, wanted)) expect(actual, message).toEqual(wanted);
}
