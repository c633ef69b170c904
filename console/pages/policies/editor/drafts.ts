/** What is typed and not saved yet, in the tab's session storage: it stays while one looks at other pages, and over a reload or a new sign-in. */

export interface Draft {
  /** The version that it began from; 0: a new policy. */
  readonly from: number;
  /** What a new policy is to be called. */
  readonly name: string;
  readonly yaml: string;
}

const at = (key: string): string => `weir.policy-draft.${key}`;

/** @param policy empty: a new one */
export const draftKey = (orgId: string, personId: string, policy: string): string =>
  `${orgId} ${personId} ${policy}`;

export function draftOf(storage: Storage, key: string): Draft | undefined {
  try {
    const { from, name, yaml } = JSON.parse(storage.getItem(at(key)) ?? "{}") as Partial<Draft>;
    return typeof from === "number" && typeof name === "string" && typeof yaml === "string"
      ? { from, name, yaml }
      : undefined;
  } catch {
    return undefined;
  }
}

/** A text that has no room is not kept: it is still on the page. */
export function keepDraft(storage: Storage, key: string, draft: Draft): void {
  try {
    storage.setItem(at(key), JSON.stringify(draft));
  } catch {
    forgetDraft(storage, key);
  }
}

export const forgetDraft = (storage: Storage, key: string): void => storage.removeItem(at(key));
