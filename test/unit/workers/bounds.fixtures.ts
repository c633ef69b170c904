/** Tasks for a worker thread of the tests. */

export function loop(): never {
  for (;;);
}

export const answer = (input: number): number => input + 1;
