/** Completion of a text: whether it is shown, which one is chosen, and what the keys do meanwhile. */
import { useMemo, useState } from "preact/hooks";
import { type Completion, completionsAt, type Names } from "./completion.ts";
import type { Place } from "./place.ts";
import type { Schema } from "./schema.ts";

export interface Completing {
  /** Empty: none is shown. */
  readonly offered: readonly Completion[];
  readonly chosen: number;
  open(): void;
  close(): void;
  choose(at: number): void;
}

export function useCompletion(
  place: Place | undefined,
  schema: Schema | undefined,
  names: Names,
): Completing {
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const offered = useMemo(() => {
    if (!isOpen || place === undefined || schema === undefined) return [];
    const found = completionsAt(place, schema, names);
    // A word that is whole needs no completion: Enter goes on to the next line.
    const isWhole = found.length > 0 && found[0]?.label === place.typed && place.typed !== "";
    return isWhole ? [] : found;
  }, [isOpen, place, schema, names]);
  const count = offered.length;
  return {
    offered,
    chosen: Math.min(chosen, Math.max(0, count - 1)),
    open: () => {
      setOpen(true);
      setChosen(0);
    },
    close: () => setOpen(false),
    choose: (at) => setChosen(count === 0 ? 0 : (at + count) % count),
  };
}
