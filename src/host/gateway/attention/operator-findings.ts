/** What whoever runs the installation must see to, beside jobs and providers: customers who wait, money and cells. */
import { type AttentionSource, type Finding, MOST_FOUND } from "../../../account/attention/finding.ts";
import type { Tickets } from "../../../account/tickets/tickets.ts";
import type { ParkedPayments, ParkedReason } from "../../../billing/parked.ts";
import type { Cell } from "../../../cluster/cells/cell.ts";
import type { UnchargedCalls } from "../../../credits/ledger/uncharged.ts";

export interface OperatorFindingDeps {
  /** Port: an org's name; undefined where there is none of this id. */
  readonly nameOf: (orgId: string) => string | undefined;
  readonly tickets: Pick<Tickets, "open">;
  readonly parked: Pick<ParkedPayments, "all">;
  readonly uncharged: Pick<UnchargedCalls, "after">;
  /** Port: documents that the portal of e-invoices does not have. */
  readonly unregistered: () => { readonly failed: number; readonly overdue: number };
  /** Port: of the newest report. */
  readonly reconciliation: () => { readonly faults: number; readonly ranAtS: number };
  /** Undefined in a gateway alone. */
  readonly cells: Pick<Cell, "listed"> | undefined;
}

export const operatorFindings = (deps: OperatorFindingDeps): AttentionSource[] => [
  { needs: "operator", find: () => ticketFindings(deps) },
  { needs: "operator", find: () => paymentFindings(deps) },
  { needs: "operator", find: () => bookFindings(deps) },
  { needs: "operator", find: () => cellFindings(deps) },
];

/** The oldest wait longest. */
function ticketFindings({ tickets, nameOf }: OperatorFindingDeps): Finding[] {
  return firstOf(tickets.open()).map(({ id, orgId, kind, subject, createdAtMs }) => ({
    kind: "ticket_open",
    severity: "warning",
    title: `A ticket waits: “${subject}”.`,
    subject: { type: "ticket", id, name: subject },
    sinceMs: createdAtMs,
    details: { kind, ...orgOf(orgId, nameOf) },
    link: "/v1/operator/tickets",
  }));
}

const orgOf = (orgId: string, nameOf: OperatorFindingDeps["nameOf"]) => ({
  org_id: orgId,
  org_name: nameOf(orgId) ?? "",
});

const WHY: Readonly<Record<ParkedReason, string>> = {
  amount_differs: "its amount is not what was asked for",
  currency_differs: "its currency is not what was asked for",
  paid_twice: "it was paid twice",
  unknown_payment: "it belongs to no top-up",
  refund_does_not_fit: "a refund does not fit it",
  refund_failed_late: "its refund failed after it was settled",
  fraud_warning: "the payment gateway warns of fraud",
  reconciliation: "the books of a day do not match",
};

function paymentFindings({ parked, nameOf }: OperatorFindingDeps): Finding[] {
  const open = firstOf(parked.all()).filter(({ closedAtMs }) => closedAtMs === null);
  return open.map(({ id, orgId, ref, reason, gateway, createdAtMs }) => ({
    kind: "payment_parked",
    severity: "warning",
    title: `A payment was not credited: ${WHY[reason]}.`,
    subject: { type: "payment", id, name: ref },
    sinceMs: createdAtMs,
    details: { reason, gateway, ...orgOf(orgId, nameOf) },
    link: "/v1/operator/payments",
  }));
}

/** One finding for each kind: they are worked off together. */
function bookFindings({ unregistered, reconciliation, uncharged }: OperatorFindingDeps): Finding[] {
  const found: Finding[] = [];
  const add = (kind: Finding["kind"], title: string, count: number, more: Partial<Finding>) => {
    const subject = { type: "installation", id: "", name: "" } as const;
    if (count > 0)
      found.push({
        kind,
        severity: "warning",
        title,
        subject,
        sinceMs: undefined,
        details: { count },
        ...more,
      });
  };
  const { failed, overdue } = unregistered();
  const late = Math.max(failed, overdue);
  add(
    "invoice_unregistered",
    `The portal of e-invoices does not have ${documents(late)} that it must have.`,
    late,
    {
      link: "/v1/operator/invoices",
    },
  );
  const { faults, ranAtS } = reconciliation();
  add("books_differ", `The books of the newest reconciled day do not match: ${findings(faults)}.`, faults, {
    sinceMs: ranAtS * 1000,
    link: "/v1/operator/reconciliation",
  });
  const calls = firstOf(uncharged.after([])).length;
  const many = calls === MOST_FOUND ? `${calls} and more calls` : calls === 1 ? "A call" : `${calls} calls`;
  add(
    "calls_uncharged",
    `${many} of retired cells ${calls === 1 ? "was" : "were"} charged to no organisation.`,
    calls,
    {
      severity: "info",
      link: "/v1/operator/uncharged",
    },
  );
  return found;
}

const documents = (count: number): string => (count === 1 ? "a document" : `${count} documents`);
const findings = (count: number): string => (count === 1 ? "one finding" : `${count} findings`);

/** A cell that ended without a word holds leases until it is started again or retired. */
async function cellFindings({ cells }: OperatorFindingDeps): Promise<readonly Finding[]> {
  const listed = await cells?.listed().catch(() => undefined);
  return (listed?.cells ?? [])
    .filter(({ status }) => status === "silent")
    .map(({ cell, leasedOrgs }) => ({
      kind: "cell_silent",
      severity: "critical",
      title: `The cell ${cell} is silent: start it again, or retire it.`,
      subject: { type: "cell", id: cell, name: cell },
      sinceMs: undefined,
      details: { leased_orgs: leasedOrgs },
      link: "/v1/operator/cells",
    }));
}

function firstOf<T>(rows: Iterable<T>): T[] {
  const first: T[] = [];
  for (const row of rows) {
    first.push(row);
    if (first.length === MOST_FOUND) break;
  }
  return first;
}
