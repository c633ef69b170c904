/** What apps used in the last 30 days. */

import { type Shown, useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";

/** Names of calls, among which those of the apps are looked for: an org has 50 apps of three names each at most. */
const MOST_NAMES = 200;

/** Usage by the names that calls carry; undefined where the role does not open usage. */
export function useAppUse(): Shown<Answer<"getUsage">> | undefined {
  const isOpen = mayCall("getUsage");
  const shown = useAnswer(
    "getUsage",
    isOpen ? { query: { range: "30d", granularity: "day", group_by: "app", limit: MOST_NAMES } } : undefined,
  );
  return isOpen ? shown : undefined;
}
