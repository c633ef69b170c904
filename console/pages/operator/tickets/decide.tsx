/** Decides a ticket, once: what is approved is granted in the same act. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../../api/act.ts";
import { usePages } from "../../../api/answers.ts";
import { type ApiError, call, type Input } from "../../../api/call.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Choice, TextArea, TextField } from "../../../parts/field.tsx";
import { FaultNote } from "../../../parts/note.tsx";
import { countOf, minorOf, minorText } from "../../../text/amounts.ts";
import { format } from "../../../text/org-format.ts";
import { OrgLink } from "../shared/org-link.tsx";
import { APPROVAL, detailsOf, isRefunded, KINDS, type Ticket } from "./ticket-words.ts";

type Decision = Input<"operatorDecideTicket">["body"];
type Outcome = Decision["status"];

const OUTCOMES: Readonly<Record<Outcome, readonly [choice: string, button: string, told: string]>> = {
  approved: ["Approve it", "Approve ticket", "approved"],
  rejected: ["Reject it", "Reject ticket", "rejected"],
  closed: ["Close it without either", "Close ticket", "closed"],
};

interface DecideProps {
  readonly ticket: Ticket;
  readonly onClose: () => void;
  /** @param told what was decided, in a sentence */
  readonly onDone: (told: string) => void;
}

export function Decide({ ticket, onClose, onDone }: DecideProps) {
  const [status, setStatus] = useState<Outcome>("approved");
  const [answer, setAnswer] = useState("");
  const [rpm, setRpm] = useState(String(ticket.body.rpm ?? ""));
  const [refund, setRefund] = useState<Refund>(NO_REFUND);
  const act = useAct();
  const isApproved = status === "approved";
  const isLimit = ticket.kind === "limit_increase" && isApproved;
  const asksRefund = isRefunded(ticket.kind) && isApproved;
  const granted = countOf(rpm);
  const back = asksRefund && refund.topupId !== "" ? minorOf(refund.amount) : undefined;
  const isGood =
    (!isLimit || granted !== undefined) && (!asksRefund || refund.topupId === "" || (back ?? 0) > 0);
  const decide = () => {
    if (!isGood) return;
    act.run(async () => {
      await call("operatorDecideTicket", {
        params: { id: ticket.id },
        body: {
          status,
          answer: answer.trim(),
          ...(isLimit && granted !== undefined && { rpm: granted }),
          ...(back !== undefined && { refund: { topup_id: refund.topupId, amount_minor: back } }),
        },
      });
      onDone(`“${ticket.subject}” was ${OUTCOMES[status][2]}.`);
      onClose();
    });
  };
  return (
    <Dialog title={`${KINDS[ticket.kind]}: ${ticket.subject}`} onClose={onClose}>
      <Facts
        rows={[
          ["Organisation", <OrgLink id={ticket.org_id} />],
          ["Asked by", ticket.created_by || "not known"],
          ...detailsOf(ticket, format.value),
        ]}
      />
      <Choice
        label="Decision"
        value={status}
        onValue={(value) => setStatus(value as Outcome)}
        options={(Object.keys(OUTCOMES) as Outcome[]).map((each) => [each, OUTCOMES[each][0]])}
        hint={isApproved ? APPROVAL[ticket.kind] : "It cannot be decided again: a new ticket can be written."}
      />
      {isLimit && (
        <TextField
          label="Requests a minute that are granted"
          value={rpm}
          onValue={setRpm}
          inputMode="numeric"
          fault={granted === undefined ? "A whole number of at least one." : faultAt(act.fault, "/rpm")}
        />
      )}
      {asksRefund && (
        <RefundFields orgId={ticket.org_id} refund={refund} onRefund={setRefund} fault={act.fault} />
      )}
      <TextArea
        label="Answer"
        hint="The organisation reads it, and it is mailed to whoever asked"
        value={answer}
        onValue={setAnswer}
        rows={3}
        fault={faultAt(act.fault, "/answer")}
      />
      <FaultNote fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Decide later</Button>
        <Button kind={isApproved ? "main" : "danger"} isBusy={act.isBusy} disabled={!isGood} onClick={decide}>
          {OUTCOMES[status][1]}
        </Button>
      </div>
    </Dialog>
  );
}

interface Refund {
  /** Empty: none. */
  readonly topupId: string;
  /** As typed, before tax. */
  readonly amount: string;
}

const NO_REFUND: Refund = { topupId: "", amount: "" };

interface RefundProps {
  readonly orgId: string;
  readonly refund: Refund;
  readonly onRefund: (refund: Refund) => void;
  readonly fault: ApiError | undefined;
}

/** Which top-up goes back, and how much of it. */
function RefundFields({ orgId, refund, onRefund, fault }: RefundProps) {
  const topups = usePages("operatorListTopups", { params: { id: orgId }, query: { limit: 100 } });
  const { minor, day } = format.value;
  const open = topups.rows.value.filter(({ refundable_minor: left }) => left > 0);
  const chosen = open.find(({ id }) => id === refund.topupId);
  const choose = (id: string) => {
    const next = open.find((each) => each.id === id);
    onRefund({ topupId: id, amount: next === undefined ? "" : minorText(next.refundable_minor) });
  };
  return (
    <>
      <FaultNote fault={topups.fault.value} onRetry={topups.refresh} />
      <Choice
        label="Refund a top-up"
        value={refund.topupId}
        onValue={choose}
        hint={
          topups.isThere.value && open.length === 0 ? "It has no top-up that could be refunded." : undefined
        }
        options={[
          ["", "None"],
          ...open.map(
            (each) =>
              [
                each.id,
                `${day(each.created_at)}: ${minor(each.refundable_minor, each.currency)} left`,
              ] as const,
          ),
        ]}
      />
      {chosen !== undefined && (
        <TextField
          label={`Amount before tax, ${chosen.currency}`}
          value={refund.amount}
          onValue={(amount) => onRefund({ topupId: chosen.id, amount })}
          inputMode="decimal"
          hint={`At most ${minor(chosen.refundable_minor, chosen.currency)}; its tax goes back, too`}
          fault={
            minorOf(refund.amount) === undefined ? "This is no amount." : faultAt(fault, "/amount_minor")
          }
        />
      )}
    </>
  );
}
