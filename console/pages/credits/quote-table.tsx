/** A quote part by part: what is paid for what, the rates, and the credit that it buys. */
import { Facts } from "../../parts/facts.tsx";
import { Figure } from "../../parts/figure.tsx";
import { Table } from "../../parts/table.tsx";
import { Money } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { partWord, type Quote, shownParts } from "./topup-words.ts";

export function QuoteTable({ of: quote }: { readonly of: Quote }) {
  const { minor } = format.value;
  const amount = (value: number) => <span class="number">{minor(value, quote.currency)}</span>;
  return (
    <>
      <div class="figures">
        <Figure label="You pay" value={amount(quote.total_minor)} about="tax included" />
        <Figure label="You get" value={<Money micro={quote.credits_micro} />} about="of credit" />
      </div>
      <Table
        label="Parts of the amount"
        rows={[
          ...shownParts(quote).map((part) => ({ what: partWord(part), value: part.minor })),
          { what: "Total", value: quote.total_minor },
        ]}
        keyOf={({ what }) => what}
        columns={[
          { head: "For", cell: ({ what }) => what },
          { head: "Amount", isNumber: true, cell: ({ value }) => amount(value) },
        ]}
      />
      {quote.currency !== "USD" && (
        <Facts
          rows={[
            ["1 USD of credit", `${Number(quote.fx_rate)} ${quote.currency}`],
            ["Rate of the day", `${Number(quote.mid_rate)} ${quote.currency}, of ${quote.fx_day}`],
            ["Spread", `${quote.spread_bps / 100} %`],
          ]}
        />
      )}
    </>
  );
}
