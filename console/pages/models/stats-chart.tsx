/** How a model's endpoints did, day by day. */
import { query, setFilters } from "../../app/router.ts";
import { Chart } from "../../parts/charts/chart.tsx";
import { Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { dayOf } from "../../text/days.ts";
import { format } from "../../text/org-format.ts";
import { DAY_FIGURES, type DayFigure, dayLines, type Stats } from "./days.ts";

const TABS = Object.entries(DAY_FIGURES).map(([name, { title }]) => [name, title] as const);

interface StatsChartProps {
  readonly stats: Stats;
  readonly nameOf: (endpoint: string) => string;
}

export function StatsChart({ stats, nameOf }: StatsChartProps) {
  const asked = query.value.get("show") ?? "";
  const figure: DayFigure = Object.hasOwn(DAY_FIGURES, asked) ? (asked as DayFigure) : "first";
  const { times, lines, leftOut } = dayLines(stats.series, figure, dayOf(Date.now(), "UTC"), nameOf);
  const shown = format.value;
  const text = (value: number) => {
    if (figure === "ok") return shown.share(value);
    return figure === "attempts" ? shown.shortCount(value) : shown.duration(value);
  };
  return (
    <Panel
      title="The last 30 days"
      actions={
        <Tabs label="What is shown" options={TABS} value={figure} onValue={(show) => setFilters({ show })} />
      }
    >
      {!stats.analytics && <Note tone="warn">Figures could not be read; there may be some.</Note>}
      {lines.length === 0 ? (
        <p class="quiet">No call reached an endpoint of it in the last 30 days.</p>
      ) : (
        <Chart
          label={`${DAY_FIGURES[figure].title} by endpoint and day, UTC`}
          times={times}
          isDaily
          lines={lines}
          text={text}
        />
      )}
      {lines.length > 0 && (
        <p class="small quiet">
          {DAY_FIGURES[figure].title}, a line an endpoint, by day, UTC. All calls of this gateway count.
          {leftOut > 0 && ` Endpoints with fewer attempts are left out: ${leftOut}.`}
        </p>
      )}
    </Panel>
  );
}
