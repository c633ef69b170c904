/** What the form "Security" says of an org, and what the API is asked by it: only what differs. Pure. */
import { countOf } from "../../text/amounts.ts";
import type { Org, OrgBody } from "./org-type.ts";

export interface SecurityValues {
  readonly isSecondFactor: boolean;
  /** As typed: one address or range a line, or separated by commas. */
  readonly networks: string;
  /** As typed. */
  readonly hours: string;
}

type Shown = Pick<Org, "settings">;

export const securityValues = ({ settings: { security } }: Shown): SecurityValues => ({
  isSecondFactor: security.require_2fa,
  networks: security.console_ip_allow.join("\n"),
  hours: String(security.session_hours),
});

const MOST_HOURS = 720;

/** Why the hours cannot be saved; undefined where they can. */
export const hoursFault = ({ hours }: SecurityValues): string | undefined =>
  (countOf(hours) ?? Infinity) <= MOST_HOURS ? undefined : "A whole number of hours from 1 to 720.";

/** The entries of the list. */
export const networksIn = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((each) => each !== "");

/** @param values without faults @returns undefined where nothing differs */
export function securityBody(org: Shown, values: SecurityValues): OrgBody | undefined {
  const { security: old } = org.settings;
  const networks = networksIn(values.networks);
  const isSame = networks.join(" ") === old.console_ip_allow.join(" ");
  const hours = countOf(values.hours);
  const security = {
    ...(values.isSecondFactor !== old.require_2fa && { require_2fa: values.isSecondFactor }),
    ...(!isSame && { console_ip_allow: networks }),
    ...(hours !== undefined && hours !== old.session_hours && { session_hours: hours }),
  };
  return Object.keys(security).length === 0 ? undefined : { settings: { security } };
}
