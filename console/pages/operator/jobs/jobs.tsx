/** Work that was given up after its tries: mails, webhooks, registrations. It is tried again, or dropped. */
import { useState } from "preact/hooks";
import { useAct } from "../../../api/act.ts";
import { type Row, usePages } from "../../../api/answers.ts";
import { call } from "../../../api/call.ts";
import { useFilterText } from "../../../app/filter-text.ts";
import { filter, setFilters } from "../../../app/router.ts";
import { Button } from "../../../parts/button.tsx";
import { Confirm } from "../../../parts/dialog.tsx";
import { TextField } from "../../../parts/field.tsx";
import { FaultNote } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, ListTable } from "../../../parts/table.tsx";
import { When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { OrgLink } from "../shared/org-link.tsx";

type Job = Row<"operatorListJobs">;

const PAGE = 50;
const kind = filter("kind");

export function Jobs() {
  const list = usePages("operatorListJobs", {
    query: { limit: PAGE, ...(kind.value !== "" && { kind: kind.value }) },
  });
  const act = useAct();
  const [told, setTold] = useState("");
  const [dropped, setDropped] = useState<Job | undefined>(undefined);
  const retry = ({ kind: name, key }: Job) =>
    act.run(async () => {
      await call("operatorRetryJob", { params: { kind: name, key } });
      setTold(`${name} is tried again now, with all its tries.`);
      list.refresh();
    });
  return (
    <Page
      title="Jobs given up"
      about="Work that outlives its request is tried again with growing waits. What fails to the end is kept here, newest first."
      actions={
        <Button onClick={list.refresh} isBusy={list.isBusy.value}>
          Refresh
        </Button>
      }
    >
      <Panel title="Given up">
        <Filters />
        <p role="status">{told}</p>
        <FaultNote fault={act.fault} />
        <ListTable
          label="Jobs given up"
          list={list}
          keyOf={({ kind: name, key }) => `${name} ${key}`}
          columns={columnsOf({ onRetry: retry, onDrop: setDropped, isBusy: act.isBusy })}
          empty={
            kind.value === "" ? (
              <p>Nothing was given up.</p>
            ) : (
              <>
                <p>No job of this kind was given up.</p>
                <Button onClick={() => setFilters({ kind: undefined })}>Show all</Button>
              </>
            )
          }
        />
      </Panel>
      {dropped !== undefined && (
        <Confirm
          title={`Drop this job of ${dropped.kind}?`}
          act="Drop job"
          onClose={() => setDropped(undefined)}
          onAct={async () => {
            await call("operatorDropJob", { params: { kind: dropped.kind, key: dropped.key } });
            setTold(`A job of ${dropped.kind} was dropped.`);
            list.refresh();
          }}
        >
          What it was to do is never done: a mail is not sent, an event not delivered. This cannot be undone.
        </Confirm>
      )}
    </Page>
  );
}

function Filters() {
  const [text, setText] = useFilterText("kind");
  return (
    <search class="filters" aria-label="Jobs">
      <TextField
        label="Kind"
        type="search"
        value={text}
        onValue={setText}
        maxLength={100}
        hint="Whole, such as mail.send"
      />
    </search>
  );
}

interface Acts {
  readonly onRetry: (job: Job) => void;
  readonly onDrop: (job: Job) => void;
  readonly isBusy: boolean;
}

const columnsOf = ({ onRetry, onDrop, isBusy }: Acts): readonly Column<Job>[] => [
  { head: "Given up", cell: ({ given_up_at: at }) => <When at={at} /> },
  {
    head: "Job",
    cell: ({ kind: name, key }) => (
      <>
        <span class="nowrap">{name}</span>
        <div class="small quiet break">{key}</div>
      </>
    ),
  },
  { head: "Last error", cell: ({ error }) => <span class="break">{error}</span> },
  { head: "Tries", isNumber: true, cell: ({ tries }) => format.value.count(tries) },
  { head: "Organisation", cell: ({ org_id: id }) => <OrgLink id={id} /> },
  {
    head: "What to do",
    cell: (job) => (
      <span class="row nowrap">
        <Button isBusy={isBusy} onClick={() => onRetry(job)} aria-label={`Try ${job.kind} ${job.key} again`}>
          Try again
        </Button>
        <Button kind="danger" onClick={() => onDrop(job)} aria-label={`Drop ${job.kind} ${job.key}`}>
          Drop
        </Button>
      </span>
    ),
  },
];
