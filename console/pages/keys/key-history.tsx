/** Who did what to a key, for those whose role opens the audit. Asked for once somebody wants to see it. */
import { useState } from "preact/hooks";
import { type Row, usePages } from "../../api/answers.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ListTable } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";

type Entry = Row<"listAudit">;

const WORDS: Readonly<Record<string, string>> = {
  "key.create": "Made",
  "key.update": "Changed",
  "key.rotate": "Rotated",
  "key.revoke": "Revoked",
  "key.raise_limit": "Limit raised",
};

/** What is new has no values before, and the page shows those that it has. */
const IS_WHOLE: ReadonlySet<string> = new Set(["key.create", "key.rotate"]);

export function KeyHistory({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel
      title="History"
      actions={!isOpen && <Button onClick={() => setOpen(true)}>Show who did what</Button>}
    >
      {isOpen ? (
        <Entries id={id} />
      ) : (
        <p class="quiet small">What was done to this key, by whom, from where.</p>
      )}
    </Panel>
  );
}

function Entries({ id }: { readonly id: string }) {
  const list = usePages("listAudit", { query: { target: id, limit: 20 } });
  return (
    <ListTable
      label="History of the key"
      list={list}
      keyOf={(entry) => entry.id}
      empty="Nothing in the last 400 days."
      columns={[
        { head: "When", cell: ({ created_at: at }) => <When at={at} /> },
        { head: "What", cell: ({ act, reason }) => [WORDS[act] ?? act, reason].filter(Boolean).join(": ") },
        { head: "Who", cell: ({ actor }) => <Actor {...actor} /> },
        { head: "Changes", cell: ({ act, changes }) => !IS_WHOLE.has(act) && <Changes of={changes} /> },
        { head: "From", cell: ({ ip_prefix: from }) => <span class="small">{from}</span> },
      ]}
    />
  );
}

const Actor = ({ kind, id }: Entry["actor"]) => (
  <>
    {kind} {id !== "" && <Copy text={id} what={`id of the ${kind}`} />}
  </>
);

const shown = (value: unknown): string =>
  value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);

const Changes = ({ of: changes }: { readonly of: Entry["changes"] }) => (
  <ul class="changes small">
    {changes.map(({ field, before, after }) => (
      <li key={field} class="break">
        <code>{field}</code> {before === undefined ? "" : `${shown(before)} → `}
        {shown(after)}
      </li>
    ))}
  </ul>
);
