/** A new ticket: a question, a refund, or higher limits, which may be approved at once. The address says what it is about. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { type ApiError, call } from "../../api/call.ts";
import { go, pageAddress, query, setFilters } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextArea, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, NotOpen, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { format } from "../../text/org-format.ts";
import {
  ABOUT_OPTIONS,
  aboutOf,
  faultsOf,
  limitsBody,
  newValues,
  type TicketValues,
  ticketBody,
  type ValueFaults,
} from "./ticket-values.ts";

export function NewTicket() {
  return (
    <Page title="New ticket" about={<Link to={["tickets"]}>All tickets</Link>}>
      <Form key={query.value.get("key")} />
    </Page>
  );
}

function Form() {
  const [typed, setValues] = useState(() => newValues("", query.value.get("key") ?? ""));
  const values = { ...typed, about: aboutOf(query.value.get("about") ?? "") };
  const [isTried, setTried] = useState(false);
  const act = useAct();
  const set = (change: Partial<TicketValues>) => setValues({ ...typed, ...change });
  const choose = (about: string) => {
    act.forget();
    setTried(false);
    setFilters({ about: about === "other" ? undefined : about });
  };
  const ask = () => {
    setTried(true);
    if (Object.keys(faultsOf(values)).length > 0) return;
    act.run(async () => {
      const id =
        values.about === "limits"
          ? (await call("requestLimits", { body: limitsBody(values) })).ticket.id
          : (await call("createTicket", { body: ticketBody(values) })).id;
      go(pageAddress(orgSlug.value, ["tickets", id]), "replace");
    });
  };
  const fields = { values, set, own: isTried ? faultsOf(values) : {}, fault: act.fault };
  const isClosed = values.about === "limits" && !mayCall("requestLimits");
  return (
    <Panel title="What it is about">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <Choice label="About" value={values.about} onValue={choose} options={ABOUT_OPTIONS} />
        {values.about !== "limits" && <Words {...fields} />}
        {values.about === "limits" && (isClosed ? <ForMembers /> : <Limits {...fields} />)}
        <div class="row">
          <Button kind="main" type="submit" isBusy={act.isBusy} disabled={isClosed}>
            Send ticket
          </Button>
          <span class="quiet small">Whoever runs this gateway reads it. Nothing of it is public.</span>
        </div>
      </form>
      {mayCall("listInvoices") && (
        <p class="quiet small">
          What is about one invoice, such as a copy of it, is asked for there:{" "}
          <Link to={["billing", "invoices"]}>Invoices</Link>.
        </p>
      )}
    </Panel>
  );
}

const ForMembers = () => (
  <NotOpen>Owners, admins and members ask for higher limits. Ask by a question instead.</NotOpen>
);

interface FieldsProps {
  readonly values: TicketValues;
  readonly set: (change: Partial<TicketValues>) => void;
  readonly own: ValueFaults;
  readonly fault: ApiError | undefined;
}

/** What the API says, where it is about no field that is shown. */
const Rest = ({
  fault,
  placed,
}: {
  readonly fault: ApiError | undefined;
  readonly placed: readonly string[];
}) => (placed.includes(fault?.param ?? "") ? null : <FaultNote fault={fault} />);

function Words({ values, set, own, fault }: FieldsProps) {
  return (
    <>
      <TextField
        label="In one line"
        value={values.subject}
        onValue={(subject) => set({ subject })}
        fault={own.subject ?? faultAt(fault, "/subject")}
        maxLength={200}
      />
      <TextArea
        label="In full"
        value={values.message}
        onValue={(message) => set({ message })}
        fault={faultAt(fault, "/message")}
        hint="What you expect, what happens instead, ids of requests or payments that show it"
        rows={8}
      />
      <Rest fault={fault} placed={["/subject", "/message"]} />
    </>
  );
}

/** Keys that are offered: the newest that work. Another one is asked for from its own page. */
const MOST_KEYS = 200;

function Limits({ values, set, own, fault }: FieldsProps) {
  const keys = useAnswer("listKeys", { query: { status: "active", limit: MOST_KEYS } });
  const limits = useAnswer(
    "getLimits",
    values.keyId === "" ? undefined : { query: { q: values.keyId, limit: 1 } },
  );
  const listed = keys.value.value?.data;
  if (listed === undefined) {
    return (
      <>
        <FaultNote fault={keys.fault.value} onRetry={keys.refresh} />
        {keys.fault.value === undefined && <Waiting />}
      </>
    );
  }
  const isListed = values.keyId === "" || listed.some(({ id }) => id === values.keyId);
  const now = limits.value.value?.keys.find((key) => key.key_id === values.keyId)?.configured.rpm;
  return (
    <>
      <div class="columns">
        <Choice
          label="Key"
          value={values.keyId}
          onValue={(keyId) => set({ keyId })}
          fault={own.keyId ?? faultAt(fault, "/key_id")}
          options={[
            ["", "Choose a key"],
            ...(isListed ? [] : [[values.keyId, values.keyId] as const]),
            ...listed.map(({ id, name, hint }) => [id, `${name} (${hint})`] as const),
          ]}
        />
        <TextField
          label="Requests a minute"
          value={values.rpm}
          onValue={(rpm) => set({ rpm })}
          fault={own.rpm ?? faultAt(fault, "/rpm")}
          hint={
            now === undefined
              ? "More than it has now"
              : now === 0
                ? "It has no limit now"
                : `It has ${format.value.count(now)} now`
          }
          inputMode="numeric"
        />
      </div>
      <TextArea
        label="What for"
        value={values.reason}
        onValue={(reason) => set({ reason })}
        fault={faultAt(fault, "/reason")}
        hint="Who decides reads it. Up to a multiple of the plan's limit it is approved at once"
        rows={4}
      />
      <Rest fault={fault} placed={["/key_id", "/rpm", "/reason"]} />
    </>
  );
}
