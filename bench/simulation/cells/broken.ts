/** A promise of the product was broken. */
export class Broken extends Error {}

/** @throws Broken */
export function must(isKept: boolean, what: () => string): void {
  if (!isKept) throw new Broken(what());
}
