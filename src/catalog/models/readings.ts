/**
 * What gateways of one installation tell each other of their catalogs. Each reads files of its own, which should be equal: one that
 * reads them says which content it found, and the others look whether theirs have changed too.
 */
import type { Store } from "../../store/store.ts";

export interface Readings {
  /**
   * Only in an act.
   * @param content digest of the files that are in force with it
   * @param isAsked an operator asked this gateway to read its files. Where nobody did, the digest is noted only if it differs from the
   *   newest one that is noted
   */
  note(content: string, isAsked: boolean): void;
  /** Calls with each content that was noted, after the act, by this gateway too. */
  watch(heard: (content: string) => void): void;
}

const NEWEST = "newest";

export function storedReadings(store: Store): Readings {
  const table = store.table<{ readonly content: string }>("catalog.readings");
  return {
    note(content, isAsked) {
      if (isAsked || table.get(NEWEST)?.content !== content) table.put(NEWEST, { content });
    },
    watch(heard) {
      table.watch((_, row) => {
        if (row !== undefined) heard(row.content);
      });
    },
  };
}
