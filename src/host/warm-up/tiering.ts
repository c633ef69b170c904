/** When V8 optimises a function: after thousands of calls, and earlier while a gateway warms up. */
import { setFlagsFromString } from "node:v8";

/** The flags and their defaults belong to this version. Another one decides by itself. */
const KNOWN_V8 = "12.4.";
const DEFAULTS = [
  "--invocation-count-for-turbofan=3000",
  "--minimum-invocations-after-ic-update=500",
] as const;
/** Calls of a function: so many that most of its branches have been taken, since one that was not makes the code useless when it is. */
const EARLIER = ["--invocation-count-for-turbofan=150", "--minimum-invocations-after-ic-update=75"] as const;

/** @returns puts it back as it was */
export function optimiseEarlier(): () => void {
  if (!process.versions.v8.startsWith(KNOWN_V8)) return () => {};
  // Set by whoever started the process.
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  if (/turbofan|invocations/.test(given.replaceAll("_", "-"))) return () => {};
  for (const flag of EARLIER) setFlagsFromString(flag);
  return () => {
    for (const flag of DEFAULTS) setFlagsFromString(flag);
  };
}
