/** How long something runs, counted on while it is looked at: one clock for all of them. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { format } from "../../text/org-format.ts";

const STEP_MS = 500;

const now = signal(Date.now());
let shown = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** @param since ISO 8601 */
export function Elapsed({ since }: { readonly since: string }) {
  useEffect(() => {
    shown += 1;
    timer ??= setInterval(() => {
      now.value = Date.now();
    }, STEP_MS);
    return () => {
      shown -= 1;
      if (shown > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return <>{format.value.duration(Math.max(0, now.value - Date.parse(since)))}</>;
}
