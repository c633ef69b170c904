/** What a call cost, line by line, to the entry of the ledger and to the receipt. */
import { useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { CostLines } from "../../parts/cost-lines.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { ReceiptOf } from "./receipt.tsx";

type Detail = Answer<"getRequest">;

export function Cost({ detail }: { readonly detail: Detail }) {
  const { cost, request_id: id } = detail;
  return (
    <>
      {cost.lines.length === 0 ? <p class="quiet">Nothing was charged.</p> : <CostLines lines={cost.lines} />}
      <Facts
        rows={[
          ["Sum", <strong key="sum">{format.value.money(cost.total_micro_usd)}</strong>],
          [
            "Prices",
            cost.price_version && <Copy key="prices" text={cost.price_version} what="version of prices" />,
          ],
        ]}
      />
      {detail.ledger !== null && mayCall("listLedger") && <Entries id={id} />}
      <ReceiptOf id={id} />
    </>
  );
}

function Entries({ id }: { readonly id: string }) {
  const { value, fault, refresh } = useAnswer("listLedger", { query: { request_id: id } });
  const entries = value.value?.data ?? [];
  return (
    <>
      <FaultNote fault={fault.value} onRetry={refresh} />
      {entries.map((entry) => (
        <p key={entry.seq}>
          <Link to={["credits", "ledger"]} filters={{ request_id: id }}>
            Ledger entry {entry.seq}
          </Link>
          : {format.value.money(entry.amount_micro_usd)}, <When at={entry.created_at} />
        </p>
      ))}
    </>
  );
}
