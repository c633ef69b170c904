/** What a call cost, line by line: units, price and cost of each kind. */
import type { CostLine } from "../text/cost-line.ts";
import { format } from "../text/org-format.ts";
import { Table } from "./table.tsx";

export const CostLines = ({ lines }: { readonly lines: readonly CostLine[] }) => (
  <Table
    label="Cost lines"
    rows={lines}
    keyOf={({ kind, tool = "", tier = "" }) => `${kind} ${tool} ${tier}`}
    columns={[
      {
        head: "What",
        cell: ({ kind, tool, tier }) =>
          [kind.replaceAll("_", " "), tool, tier && `(${tier})`].filter(Boolean).join(" "),
      },
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
);
