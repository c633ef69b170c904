/**
 * The balance as it moves while calls run. It is asked for again while the page is seen.
 * When `api/live.ts` is there, its events `balance` and `hold` replace the timer here: each tells what `getCredits` would answer, and the
 * pages that use this hook stay as they are.
 */
import { type Shown, useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { useWhileSeen } from "../../api/timing.ts";

const AGAIN_MS = 2000;

export function useLiveCredits(): Shown<Answer<"getCredits">> {
  const shown = useAnswer("getCredits", {});
  useWhileSeen(() => shown.refresh(), AGAIN_MS);
  return shown;
}
