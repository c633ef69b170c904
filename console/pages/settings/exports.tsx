/** Settings, Export: all that the org has, in one file. */
import { useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { type Answer, call } from "../../api/call.ts";
import { download, fileNameOf, save } from "../../api/download.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { mayCall, org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Badge, FaultNote, Note, type Tone, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { sizeWords } from "./sizes.ts";

type Export = Answer<"listExports">["data"][number];

/** One that is being written is asked for so often. */
const AGAIN_MS = 1500;

const STATES: Readonly<Record<Export["status"], readonly [text: string, tone: Tone]>> = {
  pending: ["being written", "accent"],
  ready: ["ready", "good"],
  failed: ["failed", "bad"],
  expired: ["gone", "plain"],
};

export function Exports() {
  const id = org.value?.id ?? "";
  const answer = useAnswer("listExports", { params: { org: id } });
  const act = useAct();
  const listed = answer.value.value?.data;
  const isPending = listed?.some(({ status }) => status === "pending") === true;
  useWhileSeen(answer.refresh, isPending ? AGAIN_MS : undefined);
  const ask = () =>
    act.run(async () => {
      await call("exportOrg", { params: { org: id } });
      answer.refresh();
    });
  return (
    <Panel
      title="Take everything along"
      actions={
        mayCall("exportOrg") && (
          <Button kind="main" isBusy={act.isBusy} disabled={isPending} onClick={ask}>
            Ask for an export
          </Button>
        )
      }
    >
      <p>
        A zip with a file of JSON lines each for the organisation, members, projects, keys without their
        secrets, apps, policies, tickets, ledger, events, audit, and requests with what is kept of their
        texts.
      </p>
      <p class="quiet small">
        One a day. It can be downloaded for seven days, by owners, and also once the organisation is closed.
      </p>
      <FaultNote fault={act.fault} />
      <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
      {listed === undefined && answer.fault.value === undefined && <Waiting />}
      {listed?.length === 0 && <div class="empty">There is none yet.</div>}
      {listed !== undefined && listed.length > 0 && <Listed rows={listed} />}
      {listed?.[0]?.status === "failed" && (
        <Note tone="warn">
          The last one failed: it may be larger than this gateway allows, or its disk is nearly full. Ask
          again, or write to the operator.
        </Note>
      )}
    </Panel>
  );
}

const Listed = ({ rows }: { readonly rows: readonly Export[] }) => (
  <Table
    label="Exports"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      { head: "Asked for", cell: ({ created_at: at }) => <When at={at} /> },
      { head: "State", cell: ({ status }) => <Badge tone={STATES[status][1]}>{STATES[status][0]}</Badge> },
      { head: "Size", isNumber: true, cell: ({ bytes }) => (bytes === undefined ? "" : sizeWords(bytes)) },
      { head: "Until", cell: ({ expires_at: at }) => (at === undefined ? "" : <When at={at} />) },
      {
        head: "Calls may be missing since",
        cell: ({ incomplete_since: at }) =>
          at === undefined ? <span class="quiet">none are</span> : <When at={at} />,
      },
      { head: "", cell: (row) => (row.status === "ready" ? <SaveFile of={row} /> : "") },
    ]}
  />
);

function SaveFile({ of: { id, org_id: orgId } }: { readonly of: Export }) {
  const act = useAct();
  const keep = () =>
    act.run(async () => {
      const answer = await download("downloadExport", { params: { org: orgId, id } });
      save(await answer.blob(), fileNameOf(answer) ?? `${id}.zip`);
    });
  return (
    <>
      <Button isBusy={act.isBusy} onClick={keep}>
        Download
      </Button>
      <FaultNote fault={act.fault} />
    </>
  );
}
