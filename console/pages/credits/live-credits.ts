/**
 * The balance as it moves while calls run. It is asked for again while the page is seen: the event `credit` of the live stream has no
 * amount in the org's currency, which this page shows.
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
