/** Two to four models side by side. */
import type { ComponentChildren } from "preact";
import { useAnswer } from "../../api/answers.ts";
import { setFilters } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { format } from "../../text/org-format.ts";
import { CAPABILITIES, type Model } from "./catalog.ts";
import { markupText, price, time, tokens, uptime } from "./figures.tsx";

interface Row {
  readonly name: string;
  readonly of: (model: Model) => ComponentChildren;
}

const ROWS: readonly Row[] = [
  { name: "Vendor", of: ({ vendor }) => vendor },
  { name: "Input, per million", of: (model) => price(model.pricing_from.input) },
  { name: "Output, per million", of: (model) => price(model.pricing_from.output) },
  { name: "Cache read, per million", of: (model) => price(model.pricing_from.cache_read) },
  {
    name: "Added when charged",
    of: ({ markup_bps: bps }) =>
      markupText(bps) === undefined ? "nothing" : format.value.share(bps / 10_000),
  },
  { name: "Context, tokens", of: (model) => tokens(model.context_length) },
  { name: "Max output, tokens", of: (model) => tokens(model.max_output) },
  { name: "Reads", of: ({ modalities }) => modalities.in.join(", ") },
  { name: "Writes", of: ({ modalities }) => modalities.out.join(", ") },
  ...CAPABILITIES.map(
    ([name, title]): Row => ({ name: title, of: ({ capabilities }) => (capabilities[name] ? "yes" : "no") }),
  ),
  { name: "Uptime, 30 days", of: uptime },
  { name: "First token, median", of: (model) => time(model.ttft_p50_ms) },
  { name: "Endpoints", of: ({ endpoints }) => format.value.count(endpoints) },
  {
    name: "Released",
    of: ({ created }) => (created === 0 ? "–" : format.value.day(new Date(created * 1000).toISOString())),
  },
  { name: "State", of: ({ status }) => status },
];

export function Comparison({ ids }: { readonly ids: readonly string[] }) {
  const answer = useAnswer("listModels", {});
  const all = answer.value.value?.data;
  const models = ids.flatMap((id) => all?.find((model) => model.id === id) ?? []);
  const missing = ids.filter((id) => !models.some((model) => model.id === id));
  const remove = (id: string) => setFilters({ compare: ids.filter((each) => each !== id).join(",") });
  const acts: Row = { name: "", of: (model) => <Acts of={model} onRemove={() => remove(model.id)} /> };
  const columns: Column<Row>[] = [
    { head: "", cell: ({ name }) => <span class="quiet">{name}</span> },
    ...models.map((model) => ({ head: model.name, cell: ({ of }: Row) => of(model) })),
  ];
  return (
    <Page
      title="Models side by side"
      actions={<Button onClick={() => setFilters({ compare: "" }, "push")}>All models</Button>}
      about="List prices in US dollars, of the cheapest endpoint of each."
    >
      <FaultNote fault={answer.fault.value} onRetry={() => answer.refresh()} />
      {all === undefined ? (
        answer.fault.value === undefined && <Waiting />
      ) : (
        <>
          {missing.length > 0 && <Note tone="warn">Not in the catalog: {missing.join(", ")}.</Note>}
          {models.length > 0 && (
            <Panel title={models.map(({ name }) => name).join(", ")}>
              <Table label="Comparison" rows={[acts, ...ROWS]} keyOf={({ name }) => name} columns={columns} />
            </Panel>
          )}
        </>
      )}
    </Page>
  );
}

/** The way to a model, to a call of it, and out of the comparison. */
function Acts({ of: { id, name }, onRemove }: { readonly of: Model; readonly onRemove: () => void }) {
  return (
    <div class="models-acts">
      <Link class="button" to={["models", ...id.split("/")]}>
        Details
      </Link>
      {mayCall("createPlaygroundKey") && (
        <Link class="button" to={["playground"]} filters={{ model: id }}>
          Try it
        </Link>
      )}
      <Button aria-label={`Take out ${name}`} onClick={onRemove}>
        Take out
      </Button>
    </div>
  );
}
