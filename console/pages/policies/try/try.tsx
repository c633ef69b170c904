/** What a policy would do: with one call, and with the calls that were. */
export { DryRun } from "./dry-run.tsx";
export { Replay } from "./replay.tsx";
