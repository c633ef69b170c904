/** A filter as one types it: the address follows a moment after the last letter, and the text follows the address. */
import { useEffect, useState } from "preact/hooks";
import { useRested } from "../api/timing.ts";
import { query, setFilters } from "./router.ts";

const REST_MS = 250;

/** @param name of the filter in the address */
export function useFilterText(name: string): readonly [text: string, setText: (text: string) => void] {
  const inAddress = query.value.get(name) ?? "";
  const [text, setText] = useState(inAddress);
  const rested = useRested(text, REST_MS);
  useEffect(() => setFilters({ [name]: rested.trim() }), [rested]);
  useEffect(() => {
    if (inAddress !== rested.trim()) setText(inAddress);
  }, [inAddress]);
  return [text, setText];
}
