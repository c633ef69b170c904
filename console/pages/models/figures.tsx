/** Figures of models as text: prices, counts of tokens, shares that may not be measured. */
import { format } from "../../text/org-format.ts";
import { isMeasured, type Model } from "./catalog.ts";

const MICRO = 1_000_000;

/** A list price. @param usd per million tokens */
export const price = (usd: number): string =>
  usd === 0 ? "free" : format.value.money(Math.round(usd * MICRO));

export const tokens = (count: number): string => (count === 0 ? "–" : format.value.shortCount(count));

/** @param ms 0: not measured */
export const time = (ms: number): string => (ms === 0 ? "–" : format.value.duration(ms));

export const uptime = (model: Model): string =>
  isMeasured(model) ? format.value.share(model.uptime_30d) : "–";

/** What is added to list prices, where anything is. */
export const markupText = (bps: number): string | undefined =>
  bps === 0 ? undefined : `${format.value.share(bps / 10_000)} is added to list prices when charged`;
