/** All providers, as this gateway sees them. */
import { useAnswer } from "../../../api/answers.ts";
import { useWhileSeen } from "../../../api/timing.ts";
import { Button } from "../../../parts/button.tsx";
import { Link } from "../../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, Table } from "../../../parts/table.tsx";
import { format } from "../../../text/org-format.ts";
import { type Listed, reachOf, STATES, unmatchedOf } from "./provider-words.ts";

const AGAIN_MS = 15_000;

export function ProviderList() {
  const answer = useAnswer("operatorListProviders", {});
  useWhileSeen(answer.refresh, AGAIN_MS);
  const shown = answer.value.value;
  return (
    <Page
      title="Providers"
      about={
        shown && (
          <>
            As the gateway {shown.cell || "here"} sees them now. Refusals are of the last 24 hours, of all
            organisations.
          </>
        )
      }
      actions={
        <Button onClick={answer.refresh} isBusy={answer.isBusy.value}>
          Refresh
        </Button>
      }
    >
      <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
      {shown === undefined && answer.fault.value === undefined && <Waiting />}
      {shown?.analytics === false && (
        <Note tone="warn">Refusals could not be read in time, and are not shown.</Note>
      )}
      {shown !== undefined && (
        <Panel title="All providers">
          <Table label="Providers" rows={shown.data} keyOf={({ id }) => id} columns={COLUMNS} />
        </Panel>
      )}
    </Page>
  );
}

const NONE = <span class="quiet">–</span>;

const COLUMNS: readonly Column<Listed>[] = [
  {
    head: "Provider",
    cell: ({ id, name, simulated }) => (
      <>
        <Link to={["providers", id]} class="break">
          {name}
        </Link>
        <div class="small quiet">{simulated ? `${id}, simulated` : id}</div>
      </>
    ),
  },
  {
    head: "Calls",
    cell: (provider) => {
      const [tone, word] = reachOf(provider);
      return (
        <>
          <Badge tone={tone}>{word}</Badge>
          {provider.missing.map((name) => (
            <div key={name} class="small break">
              <code>{name}</code> is not set
            </div>
          ))}
        </>
      );
    },
  },
  {
    head: "Endpoints",
    cell: ({ states, endpoints }) =>
      endpoints === 0 ? (
        NONE
      ) : (
        <span class="row">
          {STATES.filter(([state]) => states[state] > 0).map(([state, tone, word]) => (
            <Badge key={state} tone={tone}>
              {format.value.count(states[state])} {word}
            </Badge>
          ))}
        </span>
      ),
  },
  { head: "Models", isNumber: true, cell: ({ models }) => format.value.count(models) },
  {
    head: "Own keys",
    cell: ({ keys }) => {
      const bad = keys.filter(({ status }) => status !== "ready").length;
      if (keys.length === 0) return NONE;
      return bad === 0 ? (
        <span class="nowrap">{format.value.count(keys.length)} ready</span>
      ) : (
        <Badge tone="warn">
          {bad} of {keys.length} out
        </Badge>
      );
    },
  },
  {
    head: "Keys of organisations",
    isNumber: true,
    cell: ({ org_keys: count }) => format.value.count(count),
  },
  {
    head: "Refused",
    cell: ({ refusals }) => {
      const all = refusals.reduce((sum, { attempts }) => sum + attempts, 0);
      const unmatched = unmatchedOf(refusals);
      if (all === 0) return NONE;
      return (
        <>
          {format.value.count(all)}
          {unmatched > 0 && (
            <div class="small">{format.value.count(unmatched)} in words that no rule knows</div>
          )}
        </>
      );
    },
  },
];
