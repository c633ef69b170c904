/** One organisation: its credit and plan, what it paid, and what an operator does to it. */
import { useState } from "preact/hooks";
import { type Shown, useAnswer, usePages } from "../../../api/answers.ts";
import { call } from "../../../api/call.ts";
import { Button } from "../../../parts/button.tsx";
import { Copy } from "../../../parts/copy.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Figure } from "../../../parts/figure.tsx";
import { Link } from "../../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { ListTable } from "../../../parts/table.tsx";
import { Money, When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { ReasonDialog } from "../shared/reason-dialog.tsx";
import { CreditDialog } from "./credit-dialog.tsx";
import { type Org, STATUS_TONES } from "./org-words.ts";
import { PaymentDialog } from "./payment-dialog.tsx";
import { TOPUP_COLUMNS } from "./topup-columns.tsx";

const PAGE = 25;

export function OrgPage({ id }: { readonly id: string }) {
  const shown = useAnswer("operatorGetOrg", { params: { id } });
  const topups = usePages("operatorListTopups", { params: { id }, query: { limit: PAGE } });
  const org = shown.value.value;
  const about = <Link to={["organisations"]}>All organisations</Link>;
  if (org === undefined) {
    return (
      <Page title="Organisation" about={about}>
        <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
        {shown.fault.value === undefined && <Waiting />}
      </Page>
    );
  }
  const refresh = () => {
    shown.refresh();
    topups.refresh();
  };
  return (
    <Page title={org.name} about={about} actions={<StatusAct org={org} onDone={refresh} />}>
      <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
      {org.status === "suspended" && (
        <Note tone="warn">It is suspended: its keys are refused, and its people can only read.</Note>
      )}
      <div class="columns">
        <CreditPanel org={org} shown={shown} onDone={refresh} />
        <FactsPanel org={org} />
      </div>
      <Panel title="Top-ups">
        <ListTable
          label="Top-ups"
          list={topups}
          keyOf={({ id: each }) => each}
          columns={TOPUP_COLUMNS}
          empty={<p>It has bought no credit. Record a payment that came by wire or cheque above.</p>}
        />
      </Panel>
    </Page>
  );
}

interface OfOrg {
  readonly org: Org;
  readonly onDone: () => void;
}

function StatusAct({ org, onDone }: OfOrg) {
  const [isAsked, setAsked] = useState(false);
  if (org.status === "closed") return null;
  const isActive = org.status === "active";
  const change = isActive
    ? (reason: string) => call("operatorSuspendOrg", { params: { id: org.id }, body: { reason } })
    : (reason: string) => call("operatorResumeOrg", { params: { id: org.id }, body: { reason } });
  return (
    <>
      <Button kind={isActive ? "danger" : "main"} onClick={() => setAsked(true)}>
        {isActive ? "Suspend organisation" : "Resume organisation"}
      </Button>
      {isAsked && (
        <ReasonDialog
          title={isActive ? `Suspend ${org.name}?` : `Resume ${org.name}?`}
          label="Reason"
          hint="The organisation reads it in its audit"
          pointer="/reason"
          act={isActive ? "Suspend organisation" : "Resume organisation"}
          kind={isActive ? "danger" : "main"}
          onClose={() => setAsked(false)}
          onAct={async (reason) => {
            await change(reason);
            onDone();
          }}
        >
          {isActive
            ? "Its keys stop with the next call, and its people can only read. Calls that run are finished. It can be resumed."
            : "Its keys work again with the next call, and its people can change things."}
        </ReasonDialog>
      )}
    </>
  );
}

type Asked = "" | "grant" | "adjust" | "payment";

function CreditPanel({ org, shown, onDone }: OfOrg & { readonly shown: Shown<Org> }) {
  const [asked, setAsked] = useState<Asked>("");
  const [told, setTold] = useState("");
  const done = (text: string) => {
    setTold(text);
    onDone();
  };
  const close = () => setAsked("");
  return (
    <Panel
      title="Credit"
      isBusy={shown.isBusy.value}
      actions={
        org.status !== "closed" && (
          <>
            <Button onClick={() => setAsked("grant")}>Grant credit</Button>
            <Button onClick={() => setAsked("adjust")}>Adjust credit</Button>
            <Button onClick={() => setAsked("payment")}>Record a payment</Button>
          </>
        )
      }
    >
      <div class="figures">
        <Figure
          label="Balance"
          value={<Money micro={org.balance_micro_usd} />}
          about="What calls that run hold is in it."
        />
      </div>
      <p role="status">{told}</p>
      {(asked === "grant" || asked === "adjust") && (
        <CreditDialog kind={asked} org={org} onClose={close} onDone={done} />
      )}
      {asked === "payment" && <PaymentDialog org={org} onClose={close} onDone={done} />}
    </Panel>
  );
}

function FactsPanel({ org }: { readonly org: Org }) {
  const { count } = format.value;
  return (
    <Panel
      title="Facts"
      actions={
        <>
          <Link to={["tickets"]} filters={{ org_id: org.id }}>
            Its tickets
          </Link>
          <Link to={["usage"]} filters={{ org_id: org.id, range: "30d" }}>
            Its usage
          </Link>
        </>
      }
    >
      <Facts
        rows={[
          ["Status", <Badge tone={STATUS_TONES[org.status]}>{org.status}</Badge>],
          ["Id", <Copy text={org.id} what="id of the organisation" />],
          ["Slug", org.slug],
          ["Plan", <Link to={["plans", org.plan_id]}>{org.plan_id}</Link>],
          ["Billed in", `${org.billing_currency}, ${org.billing_country}`],
          ["Legal name", org.legal_name || undefined],
          ["GSTIN", org.gstin || undefined],
          ["Billing e-mail", org.billing_email || "none"],
          ["People", count(org.members)],
          ["Projects", count(org.projects)],
          ["Made", <When at={org.created_at} />],
          ["Closed", org.closed_at && <When at={org.closed_at} />],
          ["Data is erased", org.erasure_due_at && <When at={org.erasure_due_at} />],
        ]}
      />
    </Panel>
  );
}
