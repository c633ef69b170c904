/** Values that change with every letter, taken once they have rested: what is asked of them is not asked at each letter. */
import { useSignalEffect } from "@preact/signals";
import { useRef, useState } from "preact/hooks";

/** @param read of signals alone: it is followed as they change @returns undefined until the first rest */
export function useRested<T>(read: () => T, restMs: number): T | undefined {
  const [value, setValue] = useState<T | undefined>(undefined);
  const reading = useRef(read);
  reading.current = read;
  useSignalEffect(() => {
    const next = reading.current();
    const timer = setTimeout(() => setValue(() => next), restMs);
    return () => clearTimeout(timer);
  });
  return value;
}
