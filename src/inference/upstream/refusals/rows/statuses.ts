/** What a status says by itself, where no words or codes say more. */
import type { Row } from "../row.ts";

/** Says what all four mean, as most providers have it. */
const STATUSES = "https://api-docs.deepseek.com/quick_start/error_codes";

export const STATUS_ROWS: readonly Row[] = [
  { id: "http.unauthorized", meaning: "credential", source: STATUSES, statuses: [401] },
  { id: "http.payment_required", meaning: "quota", source: STATUSES, statuses: [402] },
  {
    id: "http.too_many_requests",
    meaning: "rate_limit",
    source: STATUSES,
    statuses: [429],
  },
  { id: "http.unavailable", meaning: "overloaded", source: STATUSES, statuses: [503] },
  {
    id: "http.overloaded",
    meaning: "overloaded",
    source: "anthropics/anthropic-sdk-typescript#616",
    statuses: [529],
  },
];
