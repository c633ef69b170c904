/** One chart, which can show each figure over time, with the period before behind it. */
import { query, setFilters } from "../../app/router.ts";
import { Chart } from "../../parts/charts/chart.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { format } from "../../text/org-format.ts";
import { linesOf, METRIC_TABS, METRICS, metricOf, type Usage } from "./metrics.ts";

export function OverTime({ usage, isBusy }: { readonly usage: Usage; readonly isBusy: boolean }) {
  const name = metricOf(query.value);
  const { title, text, exact } = METRICS[name];
  const { from, to, granularity } = usage.range;
  const shown = format.value;
  const isDaily = granularity === "day";
  const by = isDaily ? "by day, UTC" : `by hour, ${shown.place.zone}`;
  return (
    <Panel
      title="Over time"
      isBusy={isBusy}
      actions={
        <Tabs
          label="What is shown"
          options={METRIC_TABS}
          value={name}
          onValue={(show) => setFilters({ show })}
        />
      }
    >
      <Chart
        label={`${title} ${by}, ${shown.time(from)} to ${shown.time(to)}`}
        times={usage.series.map(({ bucket }) => bucket)}
        isDaily={isDaily}
        lines={linesOf(name, usage)}
        text={(value) => text(value, shown)}
        exact={(value) => exact(value, shown)}
      />
      <p class="small quiet">
        {title} {by}. The last {isDaily ? "day" : "hour"} is not over yet.
      </p>
    </Panel>
  );
}
