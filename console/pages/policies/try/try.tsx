/** What a policy would do: with one call, and with the calls that were. Pages of another policy begin anew. */
import { DryRunPage } from "./dry-run.tsx";
import type { PolicyProps } from "./policy-props.ts";
import { ReplayPage } from "./replay.tsx";

export const DryRun = ({ name, version }: PolicyProps) => (
  <DryRunPage key={name} name={name} version={version} />
);

export const Replay = ({ name, version }: PolicyProps) => (
  <ReplayPage key={name} name={name} version={version} />
);
