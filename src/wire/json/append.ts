/**
 * Adds a list to another one, however long it is: `push(...more)` puts each element on the stack, which ends at some hundred
 * thousand, and a body may hold a million.
 */
export function append<T>(list: T[], more: readonly T[]): void {
  for (const element of more) list.push(element);
}
