/** The ledger: every entry, newest first, each linked to what caused it; filters in the address, and a file of what is found. */
import { type Row, usePages } from "../../api/answers.ts";
import { useFilterText } from "../../app/filter-text.ts";
import { filter, setFilters } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ListTable } from "../../parts/table.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { LedgerFile } from "./ledger-file.tsx";
import { causeOf, isKind, KIND_WORDS } from "./ledger-rows.ts";

const PAGE = 50;

const [kind, request] = [filter("kind"), filter("request_id")];

export function Ledger() {
  const chosen = {
    ...(isKind(kind.value) && { kind: kind.value }),
    ...(request.value !== "" && { request_id: request.value }),
  };
  const list = usePages("listLedger", { query: { limit: PAGE, ...chosen } });
  return (
    <Panel title="Ledger" actions={<LedgerFile query={chosen} />}>
      <Filters />
      <p class="quiet small">
        Amounts in US dollars, times in {format.value.place.zone}; a charge is negative, credit is positive.
      </p>
      <Incomplete since={list.answer.value?.incomplete_since} />
      <ListTable
        label="Entries of the ledger"
        list={list}
        keyOf={({ seq }) => String(seq)}
        empty={
          Object.keys(chosen).length > 0 ? (
            <p>No entry is like this. Clear the filters to see all.</p>
          ) : (
            <p>Nothing was charged or credited yet. A first call or a top-up makes an entry.</p>
          )
        }
        columns={[
          { head: "When", cell: ({ created_at: at }) => <When at={at} /> },
          { head: "What", cell: (entry) => KIND_WORDS[entry.kind] },
          {
            head: "Amount",
            isNumber: true,
            cell: ({ amount_micro_usd: micro }) => <Money micro={micro} />,
          },
          { head: "For", cell: (entry) => <Cause of={entry} /> },
          { head: "Entry", isNumber: true, cell: ({ seq }) => format.value.count(seq) },
        ]}
      />
    </Panel>
  );
}

/** A gateway of the installation is away, and may have entries that are not shown. */
function Incomplete({ since }: { readonly since: string | undefined }) {
  if (since === undefined) return null;
  return (
    <Note tone="warn">
      Charges from <When at={since} /> on may be missing: a gateway that may have some does not answer. The
      balance is right all the same.
    </Note>
  );
}

function Filters() {
  const [text, setText] = useFilterText("request_id");
  return (
    <search class="filters" aria-label="Entries">
      <Choice
        label="What"
        value={kind.value}
        onValue={(value) => setFilters({ kind: value })}
        options={[["", "Everything"], ...Object.entries(KIND_WORDS)]}
      />
      <TextField label="Request id" type="search" value={text} onValue={setText} maxLength={100} />
    </search>
  );
}

function mayOpen([page, part]: readonly string[]): boolean {
  if (page === "requests") return mayCall("listRequests");
  return part === "topups" ? mayCall("listTopups") : mayCall("listInvoices");
}

function Cause({ of: entry }: { readonly of: Row<"listLedger"> }) {
  const { to, text } = causeOf(entry);
  return (
    <span class="copy">
      {to !== undefined && mayOpen(to) ? (
        <Link to={to}>
          <code>{text}</code>
        </Link>
      ) : (
        <code class="break">{text}</code>
      )}
      {to !== undefined && <CopyButton text={text} />}
    </span>
  );
}
