/** Looks at a payment gateway that somebody waits for, by the id of what is looked at. */
export type Looks = Map<string, Promise<void>>;

/** Many who wait for one thing share a look. Never rejects: where the payment gateway is slow or away, a job looks again. */
export function sharedLook(looks: Looks, id: string, look: () => Promise<void>): Promise<void> {
  const underWay = looks.get(id);
  if (underWay !== undefined) return underWay;
  const begun = look()
    .catch(() => {})
    .finally(() => looks.delete(id));
  looks.set(id, begun);
  return begun;
}
