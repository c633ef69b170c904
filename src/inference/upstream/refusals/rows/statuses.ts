/** What a status says by itself, where no words or codes say more. */
import type { Row } from "../row.ts";

const STATUSES = "https://www.rfc-editor.org/rfc/rfc9110#section-15";

export const STATUS_ROWS: readonly Row[] = [
  { id: "http.unauthorized", meaning: "credential", source: STATUSES, statuses: [401] },
  { id: "http.payment_required", meaning: "quota", source: STATUSES, statuses: [402] },
  {
    id: "http.too_many_requests",
    meaning: "rate_limit",
    source: "https://www.rfc-editor.org/rfc/rfc6585#section-4",
    statuses: [429],
  },
  { id: "http.unavailable", meaning: "overloaded", source: STATUSES, statuses: [503] },
  {
    id: "http.overloaded",
    meaning: "overloaded",
    source: "https://platform.claude.com/docs/en/api/errors",
    statuses: [529],
  },
];
