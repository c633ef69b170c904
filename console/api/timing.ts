/** When a page asks: a moment after the last letter, and again while somebody looks. */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";

/** A value once it has rested: the newest, so long after its last change. @param restMs milliseconds */
export function useRested<T>(value: T, restMs: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    if (Object.is(rested, value)) return undefined;
    const timer = setTimeout(() => setRested(value), restMs);
    return () => clearTimeout(timer);
  }, [value, restMs]);
  return rested;
}

/** The same of what is read from signals. @param read of signals alone: it is followed as they change @returns undefined until the first rest */
export function useRestedSignals<T>(read: () => T, restMs: number): T | undefined {
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

/**
 * Does something again and again while the page is seen, and at once when it is seen again.
 * @param everyMs milliseconds; undefined: not at all
 */
export function useWhileSeen(again: () => void, everyMs: number | undefined): void {
  const act = useRef(again);
  act.current = again;
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const isSeen = () => document.visibilityState === "visible";
    const timer = setInterval(() => {
      if (isSeen()) act.current();
    }, everyMs);
    const onChange = () => {
      if (isSeen()) act.current();
    };
    document.addEventListener("visibilitychange", onChange);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", onChange);
    };
  }, [everyMs]);
}
