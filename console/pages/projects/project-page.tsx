/** One project: spend beside its budget, its keys, its settings, and its end. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { useAnswer, usePages } from "../../api/answers.ts";
import { call } from "../../api/call.ts";
import { mayCall, org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { BudgetBar, type ForeseenBudget } from "./budget-bar.tsx";
import { DeleteProject } from "./delete-project.tsx";
import { ProjectFields } from "./project-form.tsx";
import { ProjectKeys } from "./project-keys.tsx";
import { budgetWords, faultsOf, type Project, patchBody, valuesOf } from "./project-values.ts";
import { dataPolicyWords, HOLD_OPTIONS } from "./project-words.ts";

const MOST_BUDGETS = 200;
/** Keys of a page of the list; a link leads to all of them. */
const KEYS = 20;

export function ProjectPage({ id }: { readonly id: string }) {
  const shown = useAnswer("getProject", { params: { id } });
  const budgets = useAnswer(
    "getBudgets",
    mayCall("getBudgets") ? { query: { limit: MOST_BUDGETS } } : undefined,
  );
  const keys = usePages(
    "listKeys",
    mayCall("listKeys") ? { query: { project_id: id, limit: KEYS } } : undefined,
  );
  const project = shown.value.value;
  const about = <Link to={["projects"]}>All projects</Link>;
  if (project === undefined) {
    return (
      <Page title="Project" about={about}>
        <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
        {shown.fault.value === undefined && <Waiting />}
      </Page>
    );
  }
  const refresh = () => {
    shown.refresh();
    budgets.refresh();
  };
  const foreseen = budgets.value.value?.data.find((budget) => budget.scope === "project" && budget.id === id);
  return (
    <Page title={project.name} about={about} actions={mayCall("deleteProject") && <Delete of={project} />}>
      <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
      <div class="columns">
        <ProjectFacts of={project} />
        <Spend of={project} foreseen={foreseen} />
      </div>
      <Settings of={project} onChange={refresh} />
      {mayCall("listKeys") && <ProjectKeys of={project} list={keys} />}
    </Page>
  );
}

interface OfProject {
  readonly of: Project;
}

function Delete({ of: project }: OfProject) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button kind="danger" onClick={() => setAsked(true)}>
        Delete project
      </Button>
      {isAsked && <DeleteProject of={project} onClose={() => setAsked(false)} />}
    </>
  );
}

function ProjectFacts({ of: project }: OfProject) {
  const policy = org.value?.data_policy;
  return (
    <Panel title="Facts">
      <Facts
        rows={[
          ["Short name", <code>{project.slug}</code>],
          ["Id", <Copy text={project.id} what="project id" />],
          [
            "Environment",
            project.environment === "test" ? "test: simulated models, nothing is spent" : "live",
          ],
          ["Made", <When at={project.created_at} />],
          ["Data", policy && dataPolicyWords(policy)],
        ]}
      />
    </Panel>
  );
}

function Spend({ of: project, foreseen }: OfProject & { readonly foreseen: ForeseenBudget | undefined }) {
  const { place } = format.value;
  return (
    <Panel
      title="Spend"
      actions={
        <>
          {mayCall("getUsage") && (
            <Link to={["overview"]} filters={{ project_id: project.id }}>
              Usage
            </Link>
          )}
          {mayCall("listRequests") && (
            <Link to={["requests"]} filters={{ project_id: project.id }}>
              Requests
            </Link>
          )}
        </>
      }
    >
      <div class="figures">
        <Figure label="Today" value={<Money micro={project.spend_today_micro} />} about={place.zone} />
        <Figure label="This month" value={<Money micro={project.spend_month_micro} />} about={place.zone} />
      </div>
      {foreseen !== undefined && <BudgetBar of={foreseen} label="Budget of the month" />}
      {project.budget.monthly_micro === 0 && (
        <p class="small quiet">It has no budget of its own: its keys' and the organisation's count.</p>
      )}
    </Panel>
  );
}

interface SettingsProps extends OfProject {
  readonly onChange: () => void;
}

function Settings({ of: project, onChange }: SettingsProps) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = mayCall("updateProject");
  const { monthly_micro: monthly, hard } = project.budget;
  return (
    <Panel
      title="Budget and settings"
      actions={mayChange && !isOpen && <Button onClick={() => setOpen(true)}>Change</Button>}
    >
      {isOpen && mayChange ? (
        <Form of={project} onChange={onChange} onClose={() => setOpen(false)} />
      ) : (
        <Facts
          rows={[
            ["Name", project.name],
            [
              "Budget a month",
              monthly === 0 ? "none of its own" : `${format.value.money(monthly)}, ${budgetWords(hard)}`,
            ],
            [
              "Where credit is short",
              HOLD_OPTIONS.find(([value]) => value === (project.hold ?? ""))?.[1] ?? project.hold,
            ],
          ]}
        />
      )}
    </Panel>
  );
}

function Form({ of: project, onChange, onClose }: SettingsProps & { readonly onClose: () => void }) {
  const [values, setValues] = useState(() => valuesOf(project));
  const act = useAct();
  const body = patchBody(project, values);
  const save = () => {
    if (body === undefined || Object.keys(faultsOf(values)).length > 0) return;
    act.run(async () => {
      await call("updateProject", { params: { id: project.id }, body });
      onChange();
      onClose();
    });
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <ProjectFields values={values} onValues={setValues} isTried fault={act.fault} isNew={false} />
      <div class="row">
        <Button kind="main" type="submit" isBusy={act.isBusy} disabled={body === undefined}>
          Save changes
        </Button>
        <Button onClick={onClose}>Discard</Button>
      </div>
    </form>
  );
}
