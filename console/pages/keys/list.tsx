/** The list of keys, by cursor. Search and filters are in the address. */
import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { type Row, useAnswer, usePages } from "../../api/answers.ts";
import type { Input } from "../../api/call.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { useFilterText } from "../../app/filter-text.ts";
import { filter, go, pageAddress, setFilters } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, ListTable } from "../../parts/table.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { STATUS_OPTIONS, STATUS_TONES } from "./key-words.ts";
import { type LiveUse, shortUse, Today, useLiveUse } from "./live-use.tsx";

type KeyRow = Row<"listKeys">;
type Status = KeyRow["status"];

const PAGE = 50;
/** Use and spend are asked for the newest of those that are found, as many as one answer has. */
const MOST_LIVE = 200;
/** Live use is asked for again so often. */
const AGAIN_MS = 5000;

const [q, status, project] = [filter("q"), filter("status"), filter("project_id")];

export function KeyList() {
  const list = usePages("listKeys", {
    query: {
      limit: PAGE,
      ...(q.value !== "" && { q: q.value }),
      ...(project.value !== "" && { project_id: project.value }),
      ...(isStatus(status.value) && { status: status.value }),
    },
  });
  const projects = useAnswer("listProjects", mayCall("listProjects") ? {} : undefined);
  const live = useLiveUse(liveQuery());
  useWhileSeen(live.refresh, list.rows.value.length > 0 ? AGAIN_MS : undefined);
  const names = useComputed(() => new Map(projects.value.value?.data.map(({ id, name }) => [id, name])));
  // `live.of` reads a signal, so that what it tells anew draws the rows again.
  const columns = useMemo(() => columnsOf(names.value, live), [names.value]);
  const isFiltered = [q, status, project].some(({ value }) => value !== "");
  return (
    <Page
      title="Keys"
      about={`Spend is that of ${format.value.place.zone}'s day and month so far, with the keys that a key replaced.`}
      actions={mayCall("createKey") && <NewButton />}
    >
      <Panel title="API keys" actions={<Filters projects={projects.value.value?.data ?? []} />}>
        <FaultNote fault={live.fault.value} onRetry={live.refresh} />
        <ListTable
          label="API keys"
          list={list}
          keyOf={({ id }) => id}
          columns={columns}
          empty={isFiltered ? <NothingFound hasMore={list.hasMore.value} /> : <NoKeys />}
        />
        {list.rows.value.length > MOST_LIVE && (
          <p class="quiet small">
            Use and spend are shown of the newest {MOST_LIVE}: search, or open a key, for others.
          </p>
        )}
      </Panel>
    </Page>
  );
}

/** The same keys as the list, as far as they work; undefined where none of those that are listed does. */
function liveQuery(): Input<"getLimits">["query"] {
  const now = status.value;
  if (now === "revoked" || now === "expired") return undefined;
  return {
    limit: MOST_LIVE,
    ...(q.value !== "" && { q: q.value }),
    ...(project.value !== "" && { project_id: project.value }),
    ...((now === "active" || now === "rotating") && { status: now }),
  };
}

const isStatus = (text: string): text is Status => Object.hasOwn(STATUS_TONES, text);

const NewButton = () => (
  <Button kind="main" onClick={() => go(pageAddress(orgSlug.value, ["keys", "new"]))}>
    New key
  </Button>
);

const NoKeys = () => (
  <>
    <p>There is no key yet. A program calls models with one.</p>
    {mayCall("createKey") ? <NewButton /> : <p>An admin or a member can make one.</p>}
  </>
);

/** A search looks at some thousand keys for each page: there may be more to look at. */
const NothingFound = ({ hasMore }: { readonly hasMore: boolean }) => (
  <>
    <p>
      {hasMore
        ? "No key is like this among those looked at so far. Show more to look further."
        : "No key is like this."}
    </p>
    <Button onClick={() => setFilters({ q: undefined, status: undefined, project_id: undefined })}>
      Show all keys
    </Button>
  </>
);

interface FiltersProps {
  readonly projects: readonly { readonly id: string; readonly name: string }[];
}

function Filters({ projects }: FiltersProps) {
  const [text, setText] = useFilterText("q");
  return (
    <search class="filters" aria-label="Keys">
      <TextField
        label="Name, end of the secret, or id"
        type="search"
        value={text}
        onValue={setText}
        maxLength={100}
      />
      <Choice
        label="Status"
        value={status.value}
        onValue={(value) => setFilters({ status: value })}
        options={STATUS_OPTIONS}
      />
      {projects.length > 1 && (
        <Choice
          label="Project"
          value={project.value}
          onValue={(value) => setFilters({ project_id: value })}
          options={[["", "All"], ...projects.map(({ id, name }) => [id, name] as const)]}
        />
      )}
    </search>
  );
}

const NONE = <span class="quiet">–</span>;

function columnsOf(names: ReadonlyMap<string, string>, live: LiveUse): readonly Column<KeyRow>[] {
  const about = (cell: (key: NonNullable<ReturnType<LiveUse["of"]>>) => preact.ComponentChildren) =>
    function Cell({ id }: KeyRow) {
      const key = live.of(id);
      return key === undefined ? NONE : cell(key);
    };
  return [
    {
      head: "Name",
      cell: ({ id, name, hint }) => (
        <>
          <Link to={["keys", id]} class="break">
            {name}
          </Link>
          <div class="small quiet">
            <code>{hint}</code>
          </div>
        </>
      ),
    },
    { head: "Project", cell: ({ project_id: id }) => <span class="break">{names.get(id) ?? id}</span> },
    {
      head: "Status",
      cell: ({ status: now, environment }) => (
        <span class="row">
          <Badge tone={STATUS_TONES[now]}>{now}</Badge>
          {environment === "test" && <Badge>test</Badge>}
        </span>
      ),
    },
    { head: "Today", isNumber: true, cell: about((key) => <Today of={key} />) },
    { head: "This month", isNumber: true, cell: about((key) => <Money micro={key.spend_month_micro} />) },
    { head: "In use", cell: about((key) => <span class="small">{shortUse(key)}</span>) },
    {
      head: "Last used",
      cell: ({ last_used_at: at }) =>
        at === undefined ? <span class="quiet">never</span> : <When at={at} as="day" />,
    },
    {
      head: "Ends",
      cell: ({ expires_at: ends, revoked_at: revoked }) => {
        const at = revoked ?? ends;
        return at === undefined ? <span class="quiet">never</span> : <When at={at} as="day" />;
      },
    },
  ];
}
