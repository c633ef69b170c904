/** Policies: the list, one with its versions, the editor, and what is asked before one is put in force. */
import type { View } from "./view.ts";

const READ = ["listPolicies"] as const;

export const POLICIES: readonly View[] = [
  { name: "policies", address: "policies", shows: "tbody tr", needs: READ },
  { name: "policies-none", address: "policies?q=no-such", shows: ".empty", needs: READ },
  { name: "policy", address: ({ policy }) => `policies/${policy}`, shows: "tbody tr", needs: READ },
  {
    name: "policy-version",
    address: ({ policy, policyVersion }) => `policies/${policy}/versions/${policyVersion}`,
    shows: ".problems",
    needs: READ,
  },
  {
    name: "policy-compared",
    address: ({ policy, policyVersion }) => `policies/${policy}/versions/${policyVersion}?compare=2`,
    shows: ".diff",
    needs: READ,
  },
  {
    name: "policy-version-missing",
    address: ({ policy }) => `policies/${policy}/versions/99`,
    shows: "main .note",
    needs: READ,
  },
  {
    name: "policy-missing",
    address: "policies/no-such-policy",
    shows: "[role=alert]",
    needs: READ,
    isError: true,
  },
  {
    name: "policy-activate",
    address: ({ policy }) => `policies/${policy}`,
    click: ["text='Activate version 4'"],
    shows: "dialog [role=status]",
    needs: [...READ, "activatePolicy"],
  },
  {
    name: "policy-roll-back",
    address: ({ policy }) => `policies/${policy}`,
    click: ["text=/^Roll back to version/"],
    shows: "dialog [role=status]",
    needs: [...READ, "activatePolicy"],
  },
  {
    name: "policy-deactivate",
    address: ({ policy }) => `policies/${policy}`,
    click: ["text='Deactivate'"],
    shows: "dialog p",
    needs: [...READ, "deactivatePolicy"],
  },
  {
    name: "policy-edit",
    address: ({ policy }) => `policies/${policy}/edit`,
    shows: ".editor",
    needs: [...READ, "createPolicyVersion"],
  },
  {
    name: "policy-edit-problem",
    address: ({ policy }) => `policies/${policy}/edit`,
    click: [".editor textarea"],
    thenPress: ["Control+Home", "x"],
    shows: ".problems[data-tone=bad]",
    needs: [...READ, "createPolicyVersion"],
  },
  { name: "policy-new", address: "policies/new", shows: ".editor", needs: [...READ, "createPolicy"] },
  {
    name: "policy-new-completed",
    address: "policies/new",
    click: [".editor textarea"],
    thenPress: ["Control+Home", "Control+Space"],
    shows: ".suggestions",
    needs: [...READ, "createPolicy"],
  },
];
