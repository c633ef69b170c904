/** What needs somebody now, worst first, each with the page where it is mended. */
import { useAnswer } from "../../api/answers.ts";
import { mayCall } from "../../app/session.ts";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, type Tone, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { type Finding, type Place, placeOf } from "./attention-places.ts";

const SEVERITIES: Readonly<Record<Finding["severity"], readonly [Tone, string]>> = {
  critical: ["bad", "now"],
  warning: ["warn", "soon"],
  info: ["plain", "to know"],
};

export function AttentionPanel() {
  const answer = useAnswer("getAttention", {});
  const shown = answer.value.value;
  return (
    <Panel title="Needs attention" isBusy={shown !== undefined && answer.isBusy.value}>
      <FaultNote fault={answer.fault.value} onRetry={() => answer.refresh()} />
      {shown === undefined && answer.fault.value === undefined && <Waiting />}
      {shown?.data.length === 0 && <p class="quiet">Nothing needs anybody now.</p>}
      {shown !== undefined && shown.data.length > 0 && (
        <ul class="findings">
          {shown.data.map((finding) => (
            <Row key={`${finding.kind} ${finding.subject.id}`} finding={finding} />
          ))}
        </ul>
      )}
      {shown?.left_out.map(({ kind, count }) => (
        <p key={kind} class="small quiet">
          {format.value.count(count)} more: {kind.replaceAll("_", " ")}.
        </p>
      ))}
    </Panel>
  );
}

function Row({ finding }: { readonly finding: Finding }) {
  const { severity, title, since, link } = finding;
  const [tone, word] = SEVERITIES[severity];
  const place = placeOf(finding);
  return (
    <li>
      <Badge tone={tone}>{word}</Badge>
      <div>
        {place !== undefined && opens(place) ? (
          <Link to={place.to} {...(place.filters !== undefined && { filters: place.filters })} class="break">
            {title}
          </Link>
        ) : (
          <span class="break">{title}</span>
        )}
        <div class="small quiet break">
          {since !== null && (
            <>
              Since <When at={since} />.{" "}
            </>
          )}
          {place === undefined && link !== undefined && (
            <>
              More by the API: <code>{link}</code>
            </>
          )}
        </div>
      </div>
    </li>
  );
}

/** Whether the reader's role opens the page. */
function opens({ to: [page] }: Place): boolean {
  if (page === "credits") return mayCall("getCredits");
  if (page === "billing") return mayCall("getSubscription");
  if (page === "keys") return mayCall("listKeys");
  return page === "models" ? mayCall("listModels") : mayCall("getUsage");
}
