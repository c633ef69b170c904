/** What the form "General" says of an org, and what the API is asked by it: only what differs. Pure. */
import { countOf, microOf, microText } from "../../text/amounts.ts";
import type { Org, OrgBody } from "./org-type.ts";

/** Texts as typed; an empty amount or number: none. */
export interface GeneralValues {
  readonly name: string;
  readonly zone: string;
  /** Days; empty: keys have no end of their own. */
  readonly keyDays: string;
  readonly hold: "" | "full" | "fit";
  /** US dollars. */
  readonly low: string;
  /** US dollars a month. */
  readonly budget: string;
  readonly isHard: boolean;
  /** Percent. */
  readonly spike: string;
}

type Shown = Pick<Org, "name" | "settings">;

export function generalValues({ name, settings }: Shown): GeneralValues {
  const { security, budget, credits_low_micro: low } = settings;
  const days = security.key_default_expiry_days;
  const monthly = budget?.monthly_micro ?? 0;
  return {
    name,
    zone: settings.timezone,
    keyDays: days === 0 ? "" : String(days),
    hold: settings.hold ?? "",
    low: low === undefined ? "" : microText(low),
    budget: monthly === 0 ? "" : microText(monthly),
    isHard: monthly === 0 || budget?.hard === true,
    spike: budget?.spike_alert_pct === undefined ? "" : String(budget.spike_alert_pct),
  };
}

const MOST_DAYS = 3650;
const MOST_PERCENT = 10_000;

/** What is wrong with each field, before the API is asked. */
export function generalFaults(values: GeneralValues): Partial<Record<keyof GeneralValues, string>> {
  const faults: Partial<Record<keyof GeneralValues, string>> = {};
  const isBad = (text: string, most: number) => text.trim() !== "" && !((countOf(text) ?? Infinity) <= most);
  if (values.name.trim() === "") faults.name = "Give the organisation a name.";
  if (isBad(values.keyDays, MOST_DAYS))
    faults.keyDays = "A whole number of days from 1 to 3,650, or nothing.";
  if (isBad(values.spike, MOST_PERCENT)) faults.spike = "A whole number from 1 to 10,000, or nothing.";
  if (values.low.trim() !== "" && microOf(values.low) === undefined) faults.low = AMOUNT;
  if (values.budget.trim() !== "" && !((microOf(values.budget) ?? 0) > 0)) faults.budget = AMOUNT;
  return faults;
}

const AMOUNT = "An amount in dollars, such as 25 or 0.50, or nothing.";

/** @param values without faults @returns undefined where nothing differs */
export function generalBody(org: Shown, values: GeneralValues): OrgBody | undefined {
  const old = generalValues(org);
  const differs = (...names: readonly (keyof GeneralValues)[]) =>
    names.some((name) => old[name] !== values[name]);
  const monthly = microOf(values.budget) ?? null;
  const settings = {
    ...(differs("zone") && { timezone: values.zone }),
    ...(differs("keyDays") && { security: { key_default_expiry_days: countOf(values.keyDays) ?? 0 } }),
    ...(differs("hold") && { hold: values.hold === "" ? null : values.hold }),
    ...(differs("low") && { credits_low_micro: microOf(values.low) ?? null }),
    ...(differs("budget", "isHard", "spike") && {
      budget: {
        monthly_micro: monthly,
        ...(monthly !== null && { hard: values.isHard }),
        spike_alert_pct: countOf(values.spike) ?? null,
      },
    }),
  };
  const body = {
    ...(values.name.trim() !== old.name && { name: values.name.trim() }),
    ...(Object.keys(settings).length > 0 && { settings }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

/** Time zones to choose from: those that the browser knows, in their order, with UTC and the one that is set. @param set IANA name */
export function zonesWith(set: string): readonly string[] {
  const known = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  return [...new Set([...known, set])].sort();
}
