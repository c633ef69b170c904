/** One key: facts, spend, limits, and what can be done with it. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { ROLE_SCOPES } from "../../api/operations.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { mayCall, role } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Bar, Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { KeyHistory } from "./key-history.tsx";
import { KeySettings } from "./key-settings.tsx";
import { isWorking, type Key, mayActOn } from "./key-values.ts";
import { STATUS_TONES } from "./key-words.ts";
import { type LiveKey, useLiveUse, wholeUse } from "./live-use.tsx";
import { Revoke } from "./revoke.tsx";
import { Rotate } from "./rotate.tsx";

const AGAIN_MS = 3000;

export function KeyPage({ id }: { readonly id: string }) {
  const shown = useAnswer("getKey", { params: { id } });
  const live = useLiveUse({ q: id, kind: "any", limit: 1 });
  const projects = useAnswer("listProjects", mayCall("listProjects") ? {} : undefined);
  const key = shown.value.value;
  useWhileSeen(live.refresh, key !== undefined && isWorking(key) ? AGAIN_MS : undefined);
  if (key === undefined) {
    return (
      <Page title="Key" about={<Link to={["keys"]}>All keys</Link>}>
        <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
        {shown.fault.value === undefined && <Waiting />}
      </Page>
    );
  }
  const mine = mayActOn(ROLE_SCOPES[role.value ?? "viewer"], key);
  const project = projects.value.value?.data.find(({ id: each }) => each === key.project_id);
  const refresh = () => {
    shown.refresh();
    live.refresh();
  };
  return (
    <Page
      title={key.name}
      about={<Link to={["keys"]}>All keys</Link>}
      actions={mine && <Acts shownKey={key} onChange={refresh} />}
    >
      {!mine && mayCall("updateKey") && isWorking(key) && (
        <Note>It may do more than your role. An admin can change, rotate and revoke it.</Note>
      )}
      <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
      <div class="columns">
        <KeyFacts shownKey={key} project={project?.name} />
        <Spend shownKey={key} live={live.of(key.id)} />
      </div>
      <KeySettings
        shownKey={key}
        plan={live.value.value?.plan}
        mayChange={mine && mayCall("updateKey")}
        onChange={refresh}
      />
      {mayCall("listAudit") && <KeyHistory id={key.id} />}
    </Page>
  );
}

interface OfKey {
  readonly shownKey: Key;
}

function Acts({ shownKey, onChange }: OfKey & { readonly onChange: () => void }) {
  const [asked, setAsked] = useState<"" | "rotate" | "revoke">("");
  const close = () => setAsked("");
  return (
    <>
      {shownKey.status === "active" && mayCall("rotateKey") && (
        <Button onClick={() => setAsked("rotate")}>Rotate key</Button>
      )}
      {isWorking(shownKey) && mayCall("revokeKey") && (
        <Button kind="danger" onClick={() => setAsked("revoke")}>
          Revoke key
        </Button>
      )}
      {asked === "rotate" && <Rotate shownKey={shownKey} onClose={close} />}
      {asked === "revoke" && <Revoke shownKey={shownKey} onClose={close} onRevoked={onChange} />}
    </>
  );
}

function KeyFacts({ shownKey: key, project }: OfKey & { readonly project: string | undefined }) {
  const ends = key.revoked_at ?? key.expires_at;
  return (
    <Panel
      title="Facts"
      actions={
        <Link to={["setup"]} filters={{ key: key.id }}>
          Set up a client
        </Link>
      }
    >
      <Facts
        rows={[
          ["Status", <Badge tone={STATUS_TONES[key.status]}>{key.status}</Badge>],
          ["Secret", <code>{key.hint}</code>],
          ["Id", <Copy text={key.id} what="key id" />],
          ["Project", project ?? <code>{key.project_id}</code>],
          ["Environment", key.environment],
          ["Made", <When at={key.created_at} />],
          ["Made by", key.created_by && <Copy text={key.created_by} what="id of the maker" />],
          ["Last used", key.last_used_at === undefined ? "never" : <When at={key.last_used_at} />],
          [
            key.status === "rotating" ? "Works until" : isWorking(key) ? "Ends" : "Ended",
            ends === undefined ? "never" : <When at={ends} />,
          ],
          ["First of its line", key.lineage_id && <Lineage id={key.lineage_id} />],
        ]}
      />
    </Panel>
  );
}

const Lineage = ({ id }: { readonly id: string }) => (
  <Link to={["keys", id]}>
    <code>{id}</code>
  </Link>
);

function Spend({ shownKey: key, live }: OfKey & { readonly live: LiveKey | undefined }) {
  const { money, place } = format.value;
  const links = (
    <>
      {mayCall("getUsage") && (
        <Link to={["overview"]} filters={{ key_id: key.id }}>
          Usage
        </Link>
      )}
      {mayCall("listRequests") && (
        <Link to={["requests"]} filters={{ key_id: key.id }}>
          Requests
        </Link>
      )}
    </>
  );
  if (live === undefined) {
    return (
      <Panel title="Spend and use" actions={links}>
        <p class="quiet">{isWorking(key) ? "Not known yet." : "It has ended: see its usage and requests."}</p>
      </Panel>
    );
  }
  const { daily_micro: budget, hard } = live.budget;
  return (
    <Panel title="Spend and use" actions={links}>
      <div class="figures">
        <Figure label="Today" value={<Money micro={live.spend_today_micro} />} about={place.zone} />
        <Figure label="This month" value={<Money micro={live.spend_month_micro} />} about={place.zone} />
      </div>
      {budget > 0 && (
        <Bar
          label="Budget of the day"
          value={`${money(live.spend_today_micro)} of ${money(budget)}`}
          done={live.spend_today_micro / budget}
          about={hard ? "Calls beyond it are refused." : "It only tells: calls go on."}
        />
      )}
      <Facts
        rows={[
          ["In use now", wholeUse(live)],
          ["Held by calls", live.held_micro === null ? undefined : <Money micro={live.held_micro} />],
        ]}
      />
      {live.lineage_id !== undefined && (
        <p class="small quiet">With the keys of its line: limits, budget and spend are theirs together.</p>
      )}
    </Panel>
  );
}
