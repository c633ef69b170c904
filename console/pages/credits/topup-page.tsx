/**
 * One top-up. While it is pending it leads to the payment gateway's page, in a tab of its own, and looks again until the money has come:
 * this page stays where it is, whatever becomes of the other tab.
 */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { RefundDialog } from "./refund.tsx";
import { RefundsOf } from "./refunds.tsx";
import { isPage, refundableOf, SOURCES, statusWord, TOPUP_TONES, type Topup } from "./topup-words.ts";

const AGAIN_MS = 2500;

export function TopupPage({ id }: { readonly id: string }) {
  const shown = useAnswer("getTopup", { params: { id } });
  const topup = shown.value.value;
  useWhileSeen(() => shown.refresh(), topup?.status === "pending" ? AGAIN_MS : undefined);
  if (topup === undefined)
    return (
      <Panel title="Top-up">
        <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
        {shown.fault.value === undefined && <Waiting />}
      </Panel>
    );
  return (
    <>
      <State of={topup} />
      <TopupFacts of={topup} onChange={() => shown.refresh()} />
      <RefundsOf key={`${topup.status} ${topup.refunded_minor}`} of={topup} />
    </>
  );
}

function State({ of: topup }: { readonly of: Topup }) {
  const total = format.value.minor(topup.total_minor, topup.currency);
  if (topup.status === "pending") return <Pending of={topup} total={total} />;
  if (topup.status === "paid")
    return (
      <Note tone="good">
        <div role="status">
          {total} has arrived: <Money micro={topup.credits_micro} /> of credit is there.{" "}
          {topup.invoice_id !== undefined && (
            <Link to={["billing", "invoices", topup.invoice_id]}>Invoice</Link>
          )}
        </div>
      </Note>
    );
  if (topup.status === "failed" || topup.status === "expired")
    return (
      <Note tone="bad">
        {topup.status === "failed"
          ? "The payment failed, and nothing was charged."
          : "The time for this payment is over."}{" "}
        {topup.failure} <Link to={["credits", "topups", "new"]}>Buy credit again</Link>
      </Note>
    );
  return null;
}

function Pending({ of: topup, total }: { readonly of: Topup; readonly total: string }) {
  const url = topup.checkout_url;
  return (
    <Panel title={`Pay ${total}`}>
      {url !== undefined && isPage(url) ? (
        <>
          <p>
            It is paid on the payment gateway's page, which opens in a tab of its own. This page shows when
            the money has come.
          </p>
          <div class="row">
            <a class="button" data-kind="main" href={url} target="_blank" rel="noopener noreferrer">
              Pay {total}
            </a>
          </div>
        </>
      ) : (
        <p>
          {mayCall("createTopup") ? (
            <>
              The time to begin this payment is over. What was paid on its page is credited once it has come;
              otherwise <Link to={["credits", "topups", "new"]}>buy credit again</Link>.
            </>
          ) : (
            "Whoever may buy credit can pay it."
          )}
        </p>
      )}
      <p class="quiet small" role="status">
        Not paid yet. This page looks again every few seconds.
      </p>
    </Panel>
  );
}

function TopupFacts({ of: topup, onChange }: { readonly of: Topup; readonly onChange: () => void }) {
  const [isAsked, setAsked] = useState(false);
  const money = (value: number) => format.value.minor(value, topup.currency);
  const canRefund = refundableOf(topup) > 0 && mayCall("refundTopup");
  return (
    <Panel
      title="Top-up"
      actions={
        canRefund && (
          <Button kind="danger" onClick={() => setAsked(true)}>
            Refund
          </Button>
        )
      }
    >
      <Facts
        rows={[
          ["Status", <Badge tone={TOPUP_TONES[topup.status]}>{statusWord(topup.status)}</Badge>],
          ["Id", <Copy text={topup.id} what="top-up id" />],
          ["Amount before tax", money(topup.amount_minor)],
          ["Tax", money(topup.tax_minor)],
          ["Total", money(topup.total_minor)],
          ["Credit", <Money micro={topup.credits_micro} />],
          [
            "1 USD of credit",
            topup.currency === "USD"
              ? undefined
              : `${Number(topup.fx_rate)} ${topup.currency}, spread ${topup.spread_bps / 100} % included`,
          ],
          ["Refunded", topup.refunded_minor === 0 ? undefined : `${money(topup.refunded_minor)} before tax`],
          ["Begun", <When at={topup.created_at} />],
          ["Paid", topup.paid_at && <When at={topup.paid_at} />],
          ["How", [SOURCES[topup.source], topup.method].filter((part) => part !== "").join(", ")],
          ["Payment gateway", topup.gateway],
          ["Its payment", topup.payment_ref && <Copy text={topup.payment_ref} what="id of the payment" />],
          [
            "Invoice",
            topup.invoice_id && (
              <Link to={["billing", "invoices", topup.invoice_id]}>
                <code>{topup.invoice_id}</code>
              </Link>
            ),
          ],
        ]}
      />
      {isAsked && <RefundDialog of={topup} onClose={() => setAsked(false)} onDone={onChange} />}
    </Panel>
  );
}
