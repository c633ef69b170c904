/** The apps of the org with what each used, and which of them everybody may see. */
import { useMemo } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { go, pageAddress } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Money } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { type App, type AppUse, categoryText, useOf } from "./app-values.ts";
import { useAppUse } from "./use.tsx";

export function AppList() {
  const shown = useAnswer("listApps", {});
  const use = useAppUse();
  const apps = shown.value.value?.data;
  const groups = use?.value.value?.groups;
  const columns = useMemo(
    () => columnsOf(groups === undefined ? () => undefined : (app) => useOf(app, groups)),
    [groups],
  );
  return (
    <Page
      title="Apps"
      about="An app is what calls through your keys: registered here, its calls are counted by its name. Use is that of the last 30 days."
      actions={mayCall("createApp") && <NewButton />}
    >
      <Panel title="Apps">
        <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
        {use !== undefined && <FaultNote fault={use.fault.value} onRetry={use.refresh} />}
        {apps === undefined && shown.fault.value === undefined && <Waiting />}
        {apps?.length === 0 && (
          <div class="empty">
            <p>
              No app is registered yet. Register one to see what it uses, and to show that to others if you
              like.
            </p>
            {mayCall("createApp") ? <NewButton /> : <p>An owner or an admin can.</p>}
          </div>
        )}
        {apps !== undefined && apps.length > 0 && (
          <Table label="Apps" rows={apps} columns={columns} keyOf={({ slug }) => slug} />
        )}
      </Panel>
    </Page>
  );
}

const NewButton = () => (
  <Button kind="main" onClick={() => go(pageAddress(orgSlug.value, ["apps", "new"]))}>
    New app
  </Button>
);

const NONE = <span class="quiet">–</span>;

function columnsOf(of: (app: App) => AppUse | undefined): readonly Column<App>[] {
  const used = (cell: (use: AppUse) => preact.ComponentChildren) =>
    function Cell(app: App) {
      const use = of(app);
      return use === undefined ? NONE : cell(use);
    };
  return [
    {
      head: "App",
      cell: ({ slug, name }) => (
        <>
          <Link to={["apps", slug]} class="break">
            {name}
          </Link>
          <code class="small quiet">{slug}</code>
        </>
      ),
    },
    { head: "Category", cell: ({ category }) => categoryText(category) },
    {
      head: "Seen by",
      cell: ({ public: isPublic }) =>
        isPublic ? <Badge tone="accent">everybody</Badge> : <Badge>the organisation</Badge>,
    },
    { head: "Requests", isNumber: true, cell: used(({ requests }) => format.value.count(requests)) },
    { head: "Tokens", isNumber: true, cell: used(({ tokens }) => format.value.count(tokens)) },
    { head: "Cost", isNumber: true, cell: used(({ costMicro }) => <Money micro={costMicro} />) },
  ];
}
