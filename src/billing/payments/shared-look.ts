/** Looks at a payment gateway that somebody waits for, by the id of what is looked at. */
export type Looks<T> = Map<string, Promise<T | undefined>>;

/**
 * Many who wait for one thing share a look. Never rejects: where the payment gateway is slow or away, a job looks again.
 * @returns what the payment gateway said; undefined where it said nothing in time
 */
export function sharedLook<T>(
  looks: Looks<T>,
  id: string,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const underWay = looks.get(id);
  if (underWay !== undefined) return underWay;
  const begun = look()
    .catch(() => undefined)
    .finally(() => looks.delete(id));
  looks.set(id, begun);
  return begun;
}
