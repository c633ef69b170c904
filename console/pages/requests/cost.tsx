/** What a call cost, line by line, to the entry of the ledger and to the receipt. */

import { useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { download, fileNameOf, save } from "../../api/download.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";

type Detail = Answer<"getRequest">;
type CostLine = Detail["cost"]["lines"][number];

export function Cost({ detail }: { readonly detail: Detail }) {
  const { cost, request_id: id } = detail;
  return (
    <>
      {cost.lines.length === 0 ? (
        <p class="quiet">Nothing was charged.</p>
      ) : (
        <Table
          label="Cost lines"
          rows={cost.lines}
          keyOf={({ kind, tool = "", tier = "" }) => `${kind} ${tool} ${tier}`}
          columns={[
            { head: "What", cell: (line) => nameOf(line) },
            { head: "Units", isNumber: true, cell: ({ units }) => format.value.count(units) },
            {
              head: "USD a million",
              isNumber: true,
              // Nano-USD a unit is a thousandth of micro-USD a unit: a million units cost a thousandth of a dollar for each.
              cell: ({ unit_price_nano: nano }) => format.value.money(nano * 1000),
            },
            { head: "Cost", isNumber: true, cell: ({ micro_usd: micro }) => format.value.money(micro) },
          ]}
        />
      )}
      <Facts
        rows={[
          ["Sum", <strong key="sum">{format.value.money(cost.total_micro_usd)}</strong>],
          ["Prices", cost.price_version || undefined],
        ]}
      />
      {detail.ledger !== null && mayCall("listLedger") && <Entries id={id} />}
      <Receipt id={id} />
    </>
  );
}

const nameOf = ({ kind, tool, tier }: CostLine): string =>
  [kind.replaceAll("_", " "), tool, tier && `(${tier})`].filter(Boolean).join(" ");

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
          : {format.value.money(entry.amount_micro_usd)} <When at={entry.created_at} />
        </p>
      ))}
    </>
  );
}

/** Signed, so that it can be shown to others. */
function Receipt({ id }: { readonly id: string }) {
  const { run, fault, isBusy } = useAct();
  if (!mayCall("getReceipt")) return null;
  const fetchIt = async () => {
    const answer = await download("getReceipt", { params: { id } });
    save(await answer.blob(), fileNameOf(answer) ?? `receipt-${id}.json`);
  };
  return (
    <div class="row">
      <Button isBusy={isBusy} onClick={() => run(fetchIt)}>
        Download the signed receipt
      </Button>
      <FaultNote fault={fault} />
    </div>
  );
}
