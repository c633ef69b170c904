/** Columns of an organisation's top-ups. */
import type { Row } from "../../../api/answers.ts";
import { Badge } from "../../../parts/note.tsx";
import type { Column } from "../../../parts/table.tsx";
import { Money, When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { SOURCES, statusWord, TOPUP_TONES } from "../../credits/topup-words.ts";

export const TOPUP_COLUMNS: readonly Column<Row<"operatorListTopups">>[] = [
  { head: "Begun", cell: ({ created_at: at }) => <When at={at} /> },
  { head: "Status", cell: ({ status }) => <Badge tone={TOPUP_TONES[status]}>{statusWord(status)}</Badge> },
  {
    head: "Total, tax included",
    isNumber: true,
    cell: ({ total_minor: total, currency }) => format.value.minor(total, currency),
  },
  { head: "Credit", isNumber: true, cell: ({ credits_micro: micro }) => <Money micro={micro} /> },
  {
    head: "Can be refunded",
    isNumber: true,
    cell: ({ refundable_minor: left, currency }) =>
      left === 0 ? <span class="quiet">–</span> : format.value.minor(left, currency),
  },
  {
    head: "How",
    cell: ({ source, method, gateway }) => (
      <span class="nowrap">
        {[SOURCES[source], gateway === "offline" ? "" : gateway, method]
          .filter((part) => part !== "")
          .join(", ")}
      </span>
    ),
  },
  {
    head: "Payment",
    cell: ({ payment_ref: ref, gateway_ref: checkout }) => <code class="break">{ref ?? checkout}</code>,
  },
];
