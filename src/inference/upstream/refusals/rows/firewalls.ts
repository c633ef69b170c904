/** Refusals by firewalls before providers: `firewall.ts` tells them from the provider's own, and gives them this code. */
import { FIREWALL_CODE, FIREWALL_STATUSES } from "../../firewall.ts";
import type { Row } from "../row.ts";

export const FIREWALL_ROWS: readonly Row[] = [
  {
    id: "http.firewall",
    meaning: "firewall",
    source: "tashfeenahmed/freellmapi#1298",
    statuses: FIREWALL_STATUSES,
    codes: [FIREWALL_CODE],
  },
];
