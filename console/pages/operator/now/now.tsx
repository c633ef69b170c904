/** The operator's home: what needs somebody now, each with the page where it is seen to, and the calls of the last day. */
import { useAnswer } from "../../../api/answers.ts";
import { useWhileSeen } from "../../../api/timing.ts";
import { Button } from "../../../parts/button.tsx";
import { Link } from "../../../parts/link.tsx";
import { Badge, FaultNote, type Tone, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { TotalFigures } from "../../overview/totals.tsx";
import { type Finding, moreOf, placeOf } from "./finding-places.ts";

const AGAIN_MS = 60_000;

const SEVERITIES: Readonly<Record<Finding["severity"], readonly [Tone, string]>> = {
  critical: ["bad", "now"],
  warning: ["warn", "soon"],
  info: ["plain", "to know"],
};

export function Now() {
  const attention = useAnswer("operatorGetAttention", {});
  const usage = useAnswer("operatorSumUsage", { query: { range: "24h", compare: "1" } });
  const refresh = () => {
    attention.refresh();
    usage.refresh();
  };
  useWhileSeen(refresh, AGAIN_MS);
  const shown = attention.value.value;
  const sums = usage.value.value;
  return (
    <Page
      title="Now"
      about="What needs whoever runs this installation, worst first."
      actions={
        <Button onClick={refresh} isBusy={attention.isBusy.value}>
          Refresh
        </Button>
      }
    >
      <Panel title="Needs an operator" isBusy={shown !== undefined && attention.isBusy.value}>
        <FaultNote fault={attention.fault.value} onRetry={attention.refresh} />
        {shown === undefined && attention.fault.value === undefined && <Waiting />}
        {shown?.data.length === 0 && <p class="quiet">Nothing needs an operator now.</p>}
        {shown !== undefined && shown.data.length > 0 && (
          <ul class="findings">
            {shown.data.map((finding) => (
              <Row key={`${finding.kind} ${finding.subject.name} ${finding.subject.id}`} finding={finding} />
            ))}
          </ul>
        )}
        {shown?.left_out.map(({ kind, count }) => (
          <p key={kind} class="small quiet">
            {format.value.count(count)} more {moreOf(kind)}.
          </p>
        ))}
      </Panel>
      <Panel
        title="All calls of the last 24 hours"
        actions={<Link to={["usage"]}>Usage</Link>}
        isBusy={sums !== undefined && usage.isBusy.value}
      >
        <FaultNote fault={usage.fault.value} onRetry={usage.refresh} />
        {sums === undefined && usage.fault.value === undefined && <Waiting />}
        {sums !== undefined && <TotalFigures usage={sums} />}
      </Panel>
    </Page>
  );
}

function Row({ finding }: { readonly finding: Finding }) {
  const { severity, title, since, details = {} } = finding;
  const [tone, word] = SEVERITIES[severity];
  const place = placeOf(finding);
  return (
    <li>
      <Badge tone={tone}>{word}</Badge>
      <div>
        {place === undefined ? (
          <span class="break">{title}</span>
        ) : (
          <Link to={place} class="break">
            {title}
          </Link>
        )}
        <div class="small quiet break">
          {since !== null && (
            <>
              Since <When at={since} />.{" "}
            </>
          )}
          {details.org_name}
        </div>
      </div>
    </li>
  );
}
