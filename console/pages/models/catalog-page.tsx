/** The catalog as a table that is searched, filtered and ordered; a few can be chosen for a comparison. */
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { query, setFilters } from "../../app/router.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Toggles } from "../../parts/tabs.tsx";
import { format } from "../../text/org-format.ts";
import {
  abilitiesOf,
  CAPABILITIES,
  type Capability,
  MODALITIES,
  MOST_COMPARED,
  type Model,
  nextSort,
  type Order,
  shownModels,
  vendorsOf,
  type Wanted,
  wantedOf,
} from "./catalog.ts";
import { price, time, tokens, uptime } from "./figures.tsx";

export function Catalog() {
  const answer = useAnswer("listModels", {});
  const models = answer.value.value?.data;
  const wanted = wantedOf(query.value);
  const shown = models === undefined ? [] : shownModels(models, wanted);
  return (
    <Page
      title="Models"
      about="List prices in US dollars per million tokens, of the cheapest endpoint. Uptime is of 30 days, first token of the last days."
    >
      <FaultNote fault={answer.fault.value} onRetry={() => answer.refresh()} />
      {models === undefined && answer.fault.value === undefined && <Waiting />}
      {models !== undefined && (
        <>
          <Filters models={models} wanted={wanted} />
          <List models={shown} total={models.length} wanted={wanted} />
        </>
      )}
    </Page>
  );
}

/** After the last letter, the address has what is searched for. */
const REST_MS = 150;

function Filters({ models, wanted }: { readonly models: readonly Model[]; readonly wanted: Wanted }) {
  const [text, setText] = useState(wanted.text);
  useEffect(() => {
    const timer = setTimeout(() => setFilters({ q: text }), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const toggle = (name: string) => {
    const can = wanted.capabilities.includes(name as Capability)
      ? wanted.capabilities.filter((each) => each !== name)
      : [...wanted.capabilities, name];
    setFilters({ can: can.join(",") });
  };
  return (
    <Panel title="Filter">
      <div class="models-filters">
        <TextField label="Search" type="search" placeholder="Name or id" value={text} onValue={setText} />
        <Choice
          label="Vendor"
          value={wanted.vendor}
          onValue={(vendor) => setFilters({ vendor })}
          options={[["", "All"], ...vendorsOf(models).map((vendor) => [vendor, vendor] as const)]}
        />
        <Choice
          label="Reads or writes"
          value={wanted.modality}
          onValue={(modality) => setFilters({ modality })}
          options={[["", "Anything"], ...MODALITIES]}
        />
      </div>
      <Toggles label="Can" options={CAPABILITIES} values={wanted.capabilities} onToggle={toggle} />
    </Panel>
  );
}

interface ListProps {
  readonly models: readonly Model[];
  readonly total: number;
  readonly wanted: Wanted;
}

function List({ models, total, wanted }: ListProps) {
  const [picked, setPicked] = useState<readonly string[]>([]);
  const pick = (id: string) =>
    setPicked(picked.includes(id) ? picked.filter((each) => each !== id) : [...picked, id]);
  const { count } = format.value;
  const actions = (
    <Button
      disabled={picked.length < 2}
      onClick={() => setFilters({ compare: picked.join(",") }, "push")}
      title={`Choose two to ${MOST_COMPARED} models in the table`}
    >
      Compare{picked.length > 0 && ` ${picked.length}`}
    </Button>
  );
  return (
    <Panel
      title={
        models.length === total
          ? `${count(total)} models`
          : `${count(models.length)} of ${count(total)} models`
      }
      actions={actions}
    >
      {total === 0 ? (
        <div class="empty">
          <p>No model can be called yet. Whoever runs this gateway sets the key of a provider.</p>
        </div>
      ) : models.length === 0 ? (
        <div class="empty">
          <p>No model passes these filters.</p>
          <Button onClick={() => setFilters({ q: "", vendor: "", modality: "", can: "" })}>
            Show all models
          </Button>
        </div>
      ) : (
        <Table
          label="Models"
          rows={models}
          keyOf={({ id }) => id}
          columns={columnsOf(wanted, picked, pick)}
        />
      )}
    </Panel>
  );
}

function columnsOf(
  wanted: Wanted,
  picked: readonly string[],
  pick: (id: string) => void,
): readonly Column<Model>[] {
  const order = (name: Order) => ({
    is:
      wanted.order !== name
        ? ("none" as const)
        : wanted.isDescending
          ? ("descending" as const)
          : ("ascending" as const),
    onOrder: () => setFilters({ sort: nextSort(name, wanted) }),
  });
  const number = (head: string, name: Order, cell: (model: Model) => string): Column<Model> => ({
    head,
    isNumber: true,
    order: order(name),
    cell,
  });
  return [
    {
      head: "Compare",
      cell: ({ id, name }) => (
        <input
          type="checkbox"
          aria-label={`Compare ${name}`}
          checked={picked.includes(id)}
          disabled={!picked.includes(id) && picked.length >= MOST_COMPARED}
          onChange={() => pick(id)}
        />
      ),
    },
    { head: "Model", order: order("name"), cell: (model) => <ModelName model={model} /> },
    number("Input", "input", (model) => price(model.pricing_from.input)),
    number("Output", "output", (model) => price(model.pricing_from.output)),
    number("Cache read", "cache", (model) => price(model.pricing_from.cache_read)),
    number("Context", "context", (model) => tokens(model.context_length)),
    number("Max output", "max_output", (model) => tokens(model.max_output)),
    number("Uptime", "uptime", uptime),
    number("First token", "first", (model) => time(model.ttft_p50_ms)),
    number("Endpoints", "endpoints", (model) => format.value.count(model.endpoints)),
    { head: "Can", cell: (model) => <span class="small quiet models-can">{abilitiesOf(model)}</span> },
  ];
}

const ModelName = ({ model: { id, name, vendor, status, task } }: { readonly model: Model }) => (
  <div class="models-name">
    <Link to={["models", ...id.split("/")]}>{name}</Link>{" "}
    {status === "deprecated" && <Badge tone="warn">deprecated</Badge>}
    {task !== "generate" && <Badge>{task === "embed" ? "embeddings" : "reranking"}</Badge>}
    <div class="small quiet break">{id === name ? vendor : id}</div>
  </div>
);
