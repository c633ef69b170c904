/**
 * Keys of what must happen once: asked for twice in the same words, also after a reload, it has the same key, and the gateway answers with
 * what came of the first. Other words are another intent. Kept in the tab's session storage.
 */

export interface Intent {
  /** In words: an amount, for one. */
  readonly what: string;
  readonly key: string;
}

const at = (name: string): string => `weir.intent.${name}`;

/** @param name whose: `topup org_…` @returns undefined where there is none */
export function intentOf(storage: Storage, name: string): Intent | undefined {
  try {
    const { what, key } = JSON.parse(storage.getItem(at(name)) ?? "{}") as Partial<Intent>;
    return typeof what === "string" && typeof key === "string" ? { what, key } : undefined;
  } catch {
    return undefined;
  }
}

/** The key of an intent: the one that it has, or a new one, which is kept. @param newKey makes one */
export function intentKey(storage: Storage, name: string, what: string, newKey: () => string): string {
  const known = intentOf(storage, name);
  if (known?.what === what) return known.key;
  const key = newKey();
  storage.setItem(at(name), JSON.stringify({ what, key } satisfies Intent));
  return key;
}

/** It has happened: the same words are another intent from now on. */
export const forgetIntent = (storage: Storage, name: string): void => storage.removeItem(at(name));
