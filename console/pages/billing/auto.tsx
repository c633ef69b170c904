/** Automatic top-ups: the mandate that is debited, when and how much is bought, and what was bought so far. */
import { useState } from "preact/hooks";
import { type Row, useAnswer } from "../../api/answers.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { mayCall } from "../../app/session.ts";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { statusWord, TOPUP_TONES } from "../credits/topup-words.ts";
import { AutoForm } from "./auto-form.tsx";
import { type AutoTopup, isInForce } from "./auto-words.ts";
import { MandatePanel, Registering, SetUp } from "./mandate.tsx";

/** A payer approves within minutes, in another tab. */
const SOON_MS = 2500;
const AGAIN_MS = 10_000;
/** Top-ups among which the automatic ones are looked for. */
const LOOKED_AT = 100;

export function AutoTopups() {
  const shown = useAnswer("getAutoTopup", {});
  const topups = useAnswer("listTopups", { query: { limit: LOOKED_AT } });
  const [isSettingUp, setSettingUp] = useState(false);
  const now = shown.value.value;
  const isSoon = now !== undefined && (now.registering !== null || now.debit?.status === "under_way");
  useWhileSeen(
    () => {
      shown.refresh();
      topups.refresh();
    },
    isSoon ? SOON_MS : AGAIN_MS,
  );
  if (now === undefined)
    return (
      <Panel title="Automatic top-ups">
        <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
        {shown.fault.value === undefined && <Waiting />}
      </Panel>
    );
  const isOpen = isSettingUp || (!isInForce(now.mandate) && now.registering === null);
  return (
    <>
      <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
      <Ahead of={now} />
      {now.registering !== null && <Registering of={now.registering} onChange={() => shown.refresh()} />}
      {isOpen && (
        <SetUp
          of={now}
          onDone={() => {
            setSettingUp(false);
            shown.refresh();
          }}
          {...(isSettingUp && { onLeave: () => setSettingUp(false) })}
        />
      )}
      {isInForce(now.mandate) && (
        <div class="columns">
          <AutoForm of={now} onChange={() => shown.refresh()} />
          <MandatePanel
            of={now}
            mandate={now.mandate}
            onChange={() => shown.refresh()}
            onReplace={() => setSettingUp(true)}
          />
        </div>
      )}
      <Bought rows={topups.value.value?.data ?? []} />
    </>
  );
}

/** What happens next by itself. */
function Ahead({ of: now }: { readonly of: AutoTopup }) {
  const { debit, next_try_at: next, config } = now;
  if (debit !== null) {
    const total = format.value.minor(debit.total_minor, debit.currency);
    return (
      <Note tone="accent">
        <div role="status">
          {debit.status === "announced" ? (
            <>
              {total} will be debited after <When at={debit.due_at} />, if the balance is still below{" "}
              <Money micro={config.threshold_micro} /> then.
              {mayCall("setAutoTopup") && " Switch automatic top-ups off to stop it."}
            </>
          ) : (
            <>{total} is being debited. The credit is there once the money is.</>
          )}
        </div>
      </Note>
    );
  }
  if (next === undefined || !config.enabled) return null;
  return (
    <Note tone="warn">
      The last debit was not made. The next is tried after <When at={next} />, if the balance is still below{" "}
      <Money micro={config.threshold_micro} />.
    </Note>
  );
}

type Topup = Row<"listTopups">;

function Bought({ rows }: { readonly rows: readonly Topup[] }) {
  const automatic = rows.filter(({ source }) => source === "auto_topup");
  if (automatic.length === 0) return null;
  return (
    <Panel title="Bought automatically">
      <Table
        label="Automatic top-ups, the newest first"
        columns={COLUMNS}
        rows={automatic}
        keyOf={({ id }) => id}
      />
      {rows.length === LOOKED_AT && (
        <p class="quiet small">
          Among the last {LOOKED_AT} top-ups. <Link to={["credits", "topups"]}>All of them</Link>
        </p>
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column<Topup>[] = [
  {
    head: "Begun",
    cell: ({ id, created_at: at }) => (
      <Link to={["credits", "topups", id]}>
        <When at={at} />
      </Link>
    ),
  },
  {
    head: "Status",
    cell: ({ status, failure }) => (
      <span class="sentence">
        <Badge tone={TOPUP_TONES[status]}>{statusWord(status)}</Badge> {failure}
      </span>
    ),
  },
  {
    head: "Total, tax included",
    isNumber: true,
    cell: ({ total_minor: total, currency }) => format.value.minor(total, currency),
  },
  { head: "Credit", isNumber: true, cell: ({ credits_micro: micro }) => <Money micro={micro} /> },
  {
    head: "Invoice",
    cell: ({ invoice_id: id }) =>
      id === undefined ? <span class="quiet">–</span> : <Link to={["billing", "invoices", id]}>Invoice</Link>,
  },
];
