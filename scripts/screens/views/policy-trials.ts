/** What a policy would do, and what it does: one call, past calls, trials. */
import type { View } from "./view.ts";

const NEEDS = ["dryRunPolicy", "listPolicyVersions"] as const;

export const POLICY_TRIALS: readonly View[] = [
  {
    name: "policy-dry-run",
    address: ({ trialPolicy }) => `policies/${trialPolicy}/dry-run`,
    shows: "form",
    needs: NEEDS,
  },
  {
    name: "policy-dry-run-planned",
    address: ({ trialPolicy, trialModel }) =>
      `policies/${trialPolicy}/dry-run?version=1&model=${encodeURIComponent(trialModel)}&stream=1&prompt=4000&ignore=together`,
    shows: ".trial-plan",
    needs: NEEDS,
  },
  {
    name: "policy-dry-run-denied",
    address: ({ trialPolicy, trialModel }) =>
      `policies/${trialPolicy}/dry-run?version=2&model=${encodeURIComponent(trialModel)}&app=research-app`,
    shows: "main .note",
    needs: NEEDS,
  },
  {
    name: "policy-replay",
    address: ({ trialPolicy }) => `policies/${trialPolicy}/replay`,
    shows: "form",
    needs: NEEDS,
  },
  {
    name: "policy-replay-done",
    address: ({ trialPolicy }) => `policies/${trialPolicy}/replay?version=2&hours=720`,
    click: ["main form button[type=submit]"],
    isOneAtATime: true,
    shows: ".flow svg",
    needs: NEEDS,
  },
  {
    name: "policy-replay-table",
    address: ({ trialPolicy }) => `policies/${trialPolicy}/replay?version=2&hours=720`,
    click: ["main form button[type=submit]", "summary:has-text('As a table')"],
    isOneAtATime: true,
    shows: "details[open] table",
    needs: NEEDS,
  },
  {
    name: "policy-reports",
    address: ({ trialPolicy }) => `policies/${trialPolicy}/reports`,
    shows: ".intervals",
    needs: ["listCanaries", "listExperiments", "listShadows"],
  },
  {
    name: "policy-reports-red",
    address: "policies/north-cloud-trial/reports",
    shows: ".intervals",
    needs: ["listCanaries", "listExperiments", "listShadows"],
  },
];
