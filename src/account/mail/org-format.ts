/** Amounts and times as an org's people read them: grouped as in the org's country, in the org's time zone. */

import { usdString } from "../../base/money.ts";
import type { OrgRow } from "../org.ts";

export interface OrgFormat {
  /** US dollars, in the org's locale: `$1,234.50`. */
  usd(microUsd: number): string;
  /** Date and time in the org's time zone. @param time ISO 8601, or milliseconds since 1970 */
  time(time: string | number): string;
}

/** @param org undefined: not known any more */
export function orgFormat(org: Pick<OrgRow, "billingCountry" | "timeZone"> | undefined): OrgFormat {
  const locale = org?.billingCountry === "IN" ? "en-IN" : "en-US";
  const timeZone = org?.timeZone ?? "UTC";
  return {
    usd: (microUsd) =>
      // From digits: an amount is never a float.
      new Intl.NumberFormat(locale, {
        style: "currency",
        currency: "USD",
        currencyDisplay: "narrowSymbol",
        minimumFractionDigits: 2,
        maximumFractionDigits: 6,
      }).format(usdString(microUsd) as `${number}`),
    time: (time) =>
      new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone })
        .format(new Date(time))
        .concat(` (${timeZone})`),
  };
}
