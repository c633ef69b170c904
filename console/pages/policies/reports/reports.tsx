/** What a policy tries out, and what came of it: canaries, experiments and shadows, each with its intervals drawn. */
import { useAnswer } from "../../../api/answers.ts";
import { query, setFilters } from "../../../app/router.ts";
import { FaultNote, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { Tabs } from "../../../parts/tabs.tsx";
import { PolicyTabs } from "../policy-tabs.tsx";
import type { PolicyProps } from "../try/policy-props.ts";
import { CanaryList } from "./canaries.tsx";
import { ExperimentList } from "./experiments.tsx";
import { HOURS, hoursOf } from "./report-words.ts";
import { ShadowList } from "./shadows.tsx";

export function Reports({ name }: PolicyProps) {
  const hours = hoursOf(query.value.get("hours") ?? "");
  const params = { name };
  const canaries = useAnswer("listCanaries", { params });
  const experiments = useAnswer("listExperiments", { params, query: { hours } });
  const shadows = useAnswer("listShadows", { params });
  const tabs = (
    <Tabs
      label="Range"
      options={HOURS}
      value={String(hours)}
      onValue={(next) => setFilters({ hours: next })}
    />
  );
  return (
    <Page
      title={`${name}: trials`}
      about="What the policy tries out: of the versions in force and the latest that were."
    >
      <PolicyTabs name={name} current="reports" />
      <Panel title="Canaries">
        <FaultNote fault={canaries.fault.value} onRetry={canaries.refresh} />
        {canaries.value.value === undefined && canaries.fault.value === undefined && <Waiting />}
        {canaries.value.value !== undefined && <CanaryList rows={canaries.value.value.data} />}
      </Panel>
      <Panel title="Experiments" actions={tabs} isBusy={experiments.isBusy.value}>
        <FaultNote fault={experiments.fault.value} onRetry={experiments.refresh} />
        {experiments.value.value === undefined && experiments.fault.value === undefined && <Waiting />}
        {experiments.value.value !== undefined && <ExperimentList report={experiments.value.value} />}
      </Panel>
      <Panel title="Shadows">
        <FaultNote fault={shadows.fault.value} onRetry={shadows.refresh} />
        {shadows.value.value === undefined && shadows.fault.value === undefined && <Waiting />}
        {shadows.value.value !== undefined && <ShadowList rows={shadows.value.value.data} />}
      </Panel>
    </Page>
  );
}
