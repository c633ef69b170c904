/**
 * The mandate: set up on the payment gateway's page, in a tab of its own, while this page waits for it; how it is; and its end. The same
 * set-up has the same key until it is answered, so one is registered.
 */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { mayCall, org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Choice } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { forgetIntent, intentKey } from "../credits/intents.ts";
import { isPage } from "../credits/topup-words.ts";
import {
  type AutoTopup,
  isInForce,
  MANDATE_TONES,
  type Mandate,
  type MandateMethod,
  methodText,
  noticeWords,
  stateWords,
} from "./auto-words.ts";

interface SetUpProps {
  readonly of: AutoTopup;
  readonly onDone: () => void;
  /** Another than the one in force is asked for by hand, and need not be. */
  readonly onLeave?: () => void;
}

export function SetUp({ of: now, onDone, onLeave }: SetUpProps) {
  const [method, setMethod] = useState<MandateMethod | undefined>(now.methods[0]);
  const act = useAct();
  const cap = format.value.minor(now.cap_minor, now.currency);
  const former = isInForce(now.mandate) ? undefined : (now.mandate ?? undefined);
  const setUp = () => {
    if (method === undefined) return;
    act.run(async () => {
      const name = `mandate ${org.value?.id}`;
      const key = intentKey(sessionStorage, name, method, () => crypto.randomUUID());
      await call("createMandate", { body: { method } }, undefined, { "idempotency-key": key });
      forgetIntent(sessionStorage, name);
      onDone();
    });
  };
  return (
    <Panel title={isInForce(now.mandate) ? "Another payment method" : "Set up automatic top-ups"}>
      {former !== undefined && <Former of={former} />}
      <p>
        When the balance falls below an amount that you choose, credit is bought by itself, so that calls go
        on. You approve that once, on the payment gateway's page; this is called a mandate.
      </p>
      <p>{noticeWords(now, cap)}</p>
      {now.methods.length === 0 || method === undefined ? (
        <Note>This installation takes no mandates in {now.currency}.</Note>
      ) : mayCall("createMandate") ? (
        <div class="filters">
          <Choice
            label="Payment method"
            value={method}
            onValue={(value) => setMethod(now.methods.find((each) => each === value))}
            options={now.methods.map((each) => [each, methodText(each)] as const)}
          />
          <div class="beside-fields">
            <Button kind="main" isBusy={act.isBusy} onClick={setUp}>
              Continue to approve
            </Button>
          </div>
          {onLeave !== undefined && (
            <div class="beside-fields">
              <Button onClick={onLeave}>Leave it</Button>
            </div>
          )}
        </div>
      ) : (
        <p class="quiet">An owner, an admin or the billing role sets it up.</p>
      )}
      {isInForce(now.mandate) && (
        <p class="quiet small">The present one stays until the new one is active; then it is cancelled.</p>
      )}
      <FaultNote fault={act.fault} />
      {act.fault?.code === "billing_profile_incomplete" && <Link to={["billing", "tax"]}>Tax details</Link>}
    </Panel>
  );
}

/** One that is over, before another is set up. */
function Former({ of: mandate }: { readonly of: Mandate }) {
  return (
    <Note tone={mandate.status === "failed" ? "bad" : "plain"}>
      The last mandate ({methodText(mandate.method)}):{" "}
      <Badge tone={MANDATE_TONES[mandate.status]}>{mandate.status}</Badge>{" "}
      {mandate.cancelled_at !== undefined && <When at={mandate.cancelled_at} />} {stateWords(mandate).text}
    </Note>
  );
}

interface MandateProps {
  readonly of: Mandate;
  readonly onChange: () => void;
}

/** It waits for the payer, in another tab. */
export function Registering({ of: mandate, onChange }: MandateProps) {
  const [isAsked, setAsked] = useState(false);
  const url = mandate.hosted_url;
  return (
    <Panel
      title={`Approve: ${methodText(mandate.method)}`}
      actions={
        mayCall("cancelMandate") && (
          <Button kind="danger" onClick={() => setAsked(true)}>
            Give it up
          </Button>
        )
      }
    >
      {url !== undefined && isPage(url) ? (
        <>
          <p>
            It is approved on the payment gateway's page, which opens in a tab of its own: at most{" "}
            {format.value.minor(mandate.max_amount_minor, mandate.currency)} a debit, tax included. This page
            shows when it is active.
          </p>
          <div class="row">
            <a class="button" data-kind="main" href={url} target="_blank" rel="noopener noreferrer">
              Approve the mandate
            </a>
          </div>
        </>
      ) : (
        <p>Whoever may buy credit can approve it.</p>
      )}
      <p class="quiet small" role="status">
        Not approved yet. This page looks again every few seconds; what nobody finishes within seven days
        fails.
      </p>
      {isAsked && <CancelMandate of={mandate} onClose={() => setAsked(false)} onChange={onChange} />}
    </Panel>
  );
}

interface PanelProps {
  readonly of: AutoTopup;
  readonly mandate: Mandate;
  readonly onChange: () => void;
  readonly onReplace: () => void;
}

export function MandatePanel({ of: now, mandate, onChange, onReplace }: PanelProps) {
  const [isAsked, setAsked] = useState(false);
  const { text, next } = stateWords(mandate);
  const cap = format.value.minor(mandate.max_amount_minor, mandate.currency);
  return (
    <Panel
      title="Payment method"
      actions={
        <>
          {mayCall("createMandate") && now.registering === null && (
            <Button onClick={onReplace}>Use another</Button>
          )}
          {mayCall("cancelMandate") && (
            <Button kind="danger" onClick={() => setAsked(true)}>
              Cancel mandate
            </Button>
          )}
        </>
      }
    >
      {mandate.status === "paused" && (
        <Note tone="bad">
          {text} {next}
        </Note>
      )}
      <Facts
        rows={[
          [
            "Mandate",
            <>
              <Badge tone={MANDATE_TONES[mandate.status]}>{mandate.status}</Badge>{" "}
              {mandate.status === "active" && text}
            </>,
          ],
          ["Method", methodText(mandate.method)],
          ["Most of one debit", `${cap}, tax included`],
          ["Active since", mandate.registered_at && <When at={mandate.registered_at} as="day" />],
          [
            "Failed in a row",
            mandate.consecutive_failures === 0
              ? undefined
              : `${mandate.consecutive_failures}; the third pauses the mandate`,
          ],
          ["Payment gateway", mandate.gateway],
          ["Id", <Copy text={mandate.id} what="mandate id" />],
        ]}
      />
      <p class="quiet small">{noticeWords(now, cap)}</p>
      {isAsked && <CancelMandate of={mandate} onClose={() => setAsked(false)} onChange={onChange} />}
    </Panel>
  );
}

interface CancelProps extends MandateProps {
  readonly onClose: () => void;
}

function CancelMandate({ of: mandate, onChange, onClose }: CancelProps) {
  return (
    <Confirm
      title={`Cancel the mandate (${methodText(mandate.method)})?`}
      act="Cancel mandate"
      onAct={async () => {
        await call("cancelMandate", {});
        onChange();
      }}
      onClose={onClose}
    >
      <p>
        Automatic top-ups are switched off, and no debit is begun any more; one that is being made goes on.
        The mandate ends at the payment gateway too, and so does one that waits for approval. This cannot be
        undone: another one is approved anew.
      </p>
    </Confirm>
  );
}
