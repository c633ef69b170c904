/**
 * Numbers, money and times as text, in an org's locale and zone. Amounts come as integers of millionths of a dollar and are shown whole:
 * no digit that was charged is rounded away, unless a figure says that it is short.
 */

export interface Place {
  /** BCP 47. */
  readonly locale: string;
  /** IANA name. */
  readonly zone: string;
}

export interface Format {
  readonly place: Place;
  /** US dollars, with as many digits as are needed to show all: `$0.000012`, `$1,204.50`. @param micro millionths */
  money(micro: number): string;
  /** US dollars in short, for figures and axes: `$1.2K`, `$0.0042`. @param micro millionths */
  shortMoney(micro: number): string;
  /** An amount in minor units of a currency: `₹1,180.00`. */
  minor(amount: number, currency: string): string;
  /** `12,345`. */
  count(count: number): string;
  /** `12.3K`. */
  shortCount(count: number): string;
  /** `12.3%`. @param share 0 to 1 */
  share(share: number): string;
  /** `340 ms`, `2.41 s`, `3 min 58 s`. */
  duration(ms: number): string;
  /** Date and time of day to the second: `30 Nov 2026, 12:04:05`. @param iso as the API gives it */
  time(iso: string): string;
  /** `30 Nov 2026`. */
  day(iso: string): string;
  /** `12:04:05`. */
  clock(iso: string): string;
}

const MICRO = 1_000_000;
/** Dollars below which cents alone would say too little. What rounds to ten cents is `$0.10`. */
const SMALL = 0.095;

/** As mails have it: English, with India's grouping of digits for orgs there. @param country ISO 3166-1 alpha-2 */
export const localeOf = (country: string): string => (country === "IN" ? "en-IN" : "en-US");

export function formatFor(place: Place): Format {
  const { locale, zone: timeZone } = place;
  const numbers = new Intl.NumberFormat(locale);
  // K, M and B, which is how tokens are counted everywhere.
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
  const shares = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
  const dollars = (digits: number, most: number) =>
    new Intl.NumberFormat(locale, {
      style: "currency",
      currency: "USD",
      minimumFractionDigits: digits,
      maximumFractionDigits: most,
    });
  const whole = dollars(2, 6);
  const compact = new Intl.NumberFormat("en", {
    style: "currency",
    currency: "USD",
    notation: "compact",
    maximumFractionDigits: 1,
  });
  const small = new Intl.NumberFormat(locale, {
    style: "currency",
    currency: "USD",
    maximumSignificantDigits: 2,
  });
  const cents = dollars(2, 2);
  const times = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium", timeZone });
  const days = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone });
  const clocks = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone });
  return {
    place,
    money: (micro) => whole.format(micro / MICRO),
    shortMoney(micro) {
      const amount = Math.abs(micro / MICRO);
      if (amount >= 10_000) return compact.format(micro / MICRO);
      if (amount !== 0 && amount < SMALL) return small.format(micro / MICRO);
      return cents.format(micro / MICRO);
    },
    minor: (amount, currency) =>
      new Intl.NumberFormat(locale, { style: "currency", currency }).format(amount / 100),
    count: (count) => numbers.format(count),
    shortCount: (count) => (Math.abs(count) < 10_000 ? numbers.format(count) : short.format(count)),
    share: (share) => shares.format(share),
    duration: (ms) => durationText(ms, numbers),
    time: (iso) => times.format(instant(iso)),
    day: (iso) => days.format(instant(iso)),
    clock: (iso) => clocks.format(instant(iso)),
  };
}

const MINUTE_S = 60;

function durationText(ms: number, numbers: Intl.NumberFormat): string {
  if (ms < 1000) return `${numbers.format(Math.round(ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < MINUTE_S) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(seconds / MINUTE_S);
  if (minutes < MINUTE_S) return `${minutes} min ${Math.floor(seconds % MINUTE_S)} s`;
  return `${numbers.format(Math.floor(minutes / MINUTE_S))} h ${minutes % MINUTE_S} min`;
}

/** Records carry `YYYY-MM-DD hh:mm:ss.mmm` in UTC, everything else ISO 8601. */
export const instant = (text: string): Date =>
  new Date(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text.replace(" ", "T")}Z`);
