/** The gateways of the installation: which are alive, how far behind each is, and the end of one that will not come back. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../../api/answers.ts";
import { call } from "../../../api/call.ts";
import { useWhileSeen } from "../../../api/timing.ts";
import { Button } from "../../../parts/button.tsx";
import { Confirm } from "../../../parts/dialog.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, Table } from "../../../parts/table.tsx";
import { Money } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { type Cell, lagOf, mayRetire, RETIRED_AFTER_MS, STATES } from "./cell-words.ts";

const AGAIN_MS = 3000;

export function Cells() {
  const answer = useAnswer("operatorListCells", {});
  const [asked, setAsked] = useState<Cell | undefined>(undefined);
  const [told, setTold] = useState("");
  const shown = answer.value.value;
  const isAlone = shown !== undefined && shown.data.length === 0;
  useWhileSeen(answer.refresh, isAlone ? undefined : AGAIN_MS);
  return (
    <Page
      title="Cells"
      about={
        shown?.version == null
          ? ""
          : `Version ${format.value.count(shown.version)} of the rows that cells share.`
      }
    >
      <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
      {shown === undefined && answer.fault.value === undefined && <Waiting />}
      {isAlone && (
        <Note>
          This gateway is alone: there are no cells. <code>CELLS</code> starts several behind one address.
        </Note>
      )}
      {shown !== undefined && !isAlone && (
        <Panel title="Cells of the installation">
          <p role="status">{told}</p>
          <Table
            label="Cells"
            rows={shown.data}
            keyOf={({ cell }) => cell}
            columns={columnsOf(shown.version, setAsked)}
          />
        </Panel>
      )}
      {asked !== undefined && (
        <Retire
          cell={asked}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setTold(`${asked.cell} was retired.`);
            answer.refresh();
          }}
        />
      )}
    </Page>
  );
}

interface RetireProps {
  readonly cell: Cell;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const Retire = ({ cell, onClose, onDone }: RetireProps) => (
  <Confirm
    title={`Retire the cell ${cell.cell} for ever?`}
    act="Retire cell"
    onClose={onClose}
    onAct={async () => {
      await call("operatorRetireCell", { params: { cell: cell.cell } });
      onDone();
    }}
  >
    <p>
      Only for a cell that will not come back. The credit that it holds goes back to its organisations, and
      records that only it has are lost: calls whose charges it had not sent are charged to nobody, and listed
      as such.
    </p>
    <p>
      No process of it so far is ever accepted again. This cannot be undone. If its disk is whole, start it
      again instead.
    </p>
  </Confirm>
);

const NONE = <span class="quiet">–</span>;

const columnsOf = (version: number | null, onRetire: (cell: Cell) => void): readonly Column<Cell>[] => [
  { head: "Cell", cell: ({ cell }) => <span class="nowrap">{cell}</span> },
  {
    head: "State",
    cell: ({ status, awaited }) => (
      <>
        <Badge tone={STATES[status][0]}>{status}</Badge>
        <div class="small quiet">{STATES[status][1]}</div>
        {awaited && <div class="small">Awaited since Redis was restarted: no lease grows.</div>}
      </>
    ),
  },
  {
    head: "Behind by",
    isNumber: true,
    cell: (cell) => {
      const lag = lagOf(cell, version);
      return lag === undefined ? NONE : `${format.value.count(lag)} ${lag === 1 ? "change" : "changes"}`;
    },
  },
  {
    head: "Last heard",
    isNumber: true,
    cell: ({ silent_ms: ms }) => (ms === null ? NONE : `${format.value.duration(ms)} ago`),
  },
  {
    head: "Credit held",
    isNumber: true,
    cell: ({ leased_micro_usd: micro, leased_orgs: orgs }) => (
      <>
        {micro === null ? "more than is added up" : <Money micro={micro} />}
        <div class="small quiet">
          {format.value.count(orgs)} {orgs === 1 ? "organisation" : "organisations"}
        </div>
      </>
    ),
  },
  {
    head: "What to do",
    cell: (cell) => {
      if (mayRetire(cell))
        return (
          <Button kind="danger" onClick={() => onRetire(cell)} aria-label={`Retire ${cell.cell}`}>
            Retire
          </Button>
        );
      if (cell.status === "silent")
        return (
          <span class="small sentence">
            Start it again. It can be retired once it was silent for {format.value.duration(RETIRED_AFTER_MS)}
            .
          </span>
        );
      return NONE;
    },
  },
];
