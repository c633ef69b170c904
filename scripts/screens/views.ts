/**
 * Every page and view of the console, as data: an address and what is on it. Pictures are made of them, and the tests of the whole console
 * walk them. A new view is a new row in the file of its page.
 */
import { ROUTES } from "../../console/api/operations.ts";
import type { Samples } from "./samples.ts";
import { BILLING } from "./views/billing.ts";
import { CALLS } from "./views/calls.ts";
import { CREDITS } from "./views/credits.ts";
import { FRAME } from "./views/frame.ts";
import { HOOKS } from "./views/hooks.ts";
import { KEYS } from "./views/keys.ts";
import { MODELS } from "./views/models.ts";
import { OPERATOR_VIEWS } from "./views/operator.ts";
import { PEOPLE } from "./views/people.ts";
import { PLAYGROUND_VIEWS } from "./views/playground.ts";
import { POLICIES } from "./views/policies.ts";
import { POLICY_TRIALS } from "./views/policy-trials.ts";
import { SETTINGS } from "./views/settings.ts";
import type { View } from "./views/view.ts";

export type { View } from "./views/view.ts";

const HEADING = "h1";

export const VIEWS: readonly View[] = [
  ...CALLS,
  ...PLAYGROUND_VIEWS,
  ...MODELS,
  ...POLICIES,
  ...POLICY_TRIALS,
  ...KEYS,
  ...CREDITS,
  ...HOOKS,
  ...PEOPLE,
  ...BILLING,
  ...SETTINGS,
  ...FRAME,
  ...OPERATOR_VIEWS,
];

/** It is about the installation: operators see it, whatever org they are in. */
export const isOfOperator = ({ needs = [] }: View): boolean =>
  needs.some((name) => ROUTES[name][2] === "operator");

export const shownBy = ({ shows = HEADING }: View): string => shows;

/** Path and query behind the gateway's address. */
export function addressOf({ address }: View, org: string, samples: Samples): string {
  const own = typeof address === "string" ? address : address(samples);
  return own.startsWith("/") ? own : `/console/${org}/${own}`;
}
