/** Pages about the installation, which operators see. */
import type { View } from "./view.ts";

const at = (path: string): string => `/console/operator/${path}`;

export const OPERATOR_VIEWS: readonly View[] = [
  { name: "operator-own-orgs", address: at("your-organisations"), needs: ["operatorGetAttention"] },
  { name: "operator-own-org-new", address: at("your-organisations/new"), needs: ["operatorGetAttention"] },
  { name: "operator-own-sessions", address: at("sessions"), needs: ["operatorGetAttention"] },
  { name: "operator-now", address: at("now"), shows: ".findings li", needs: ["operatorGetAttention"] },
  {
    name: "operator-orgs",
    address: at("organisations"),
    shows: "tbody tr",
    needs: ["operatorListOrgs"],
  },
  {
    name: "operator-orgs-none",
    address: at("organisations?q=no%20such%20name"),
    shows: ".empty",
    needs: ["operatorListOrgs"],
  },
  {
    name: "operator-org",
    address: ({ org }) => at(`organisations/${org}`),
    shows: "tbody tr",
    needs: ["operatorGetOrg", "operatorListTopups"],
  },
  ...orgDialog("operator-org-suspend", "Suspend organisation", "operatorSuspendOrg"),
  ...orgDialog("operator-org-grant", "Grant credit", "operatorGrant"),
  ...orgDialog("operator-org-adjust", "Adjust credit", "operatorAdjust"),
  ...orgDialog("operator-org-payment", "Record a payment", "operatorRecordPayment"),
  {
    name: "operator-tickets",
    address: at("tickets"),
    shows: "tbody tr",
    needs: ["operatorListTickets"],
  },
  {
    name: "operator-tickets-decided",
    address: at("tickets?status=approved"),
    shows: "tbody tr",
    needs: ["operatorListTickets"],
  },
  {
    name: "operator-ticket-limit",
    address: at("tickets?kind=limit_increase"),
    click: ["button:has-text('Decide')"],
    shows: "dialog",
    needs: ["operatorListTickets", "operatorDecideTicket"],
  },
  {
    name: "operator-ticket-refund",
    address: at("tickets?kind=refund"),
    click: ["button:has-text('Decide')"],
    shows: "dialog",
    needs: ["operatorListTickets", "operatorDecideTicket", "operatorListTopups"],
  },
  { name: "operator-plans", address: at("plans"), shows: "tbody tr", needs: ["operatorListPlans"] },
  {
    name: "operator-plan",
    address: ({ plan }) => `/console/operator/plans/${plan}`,
    shows: "tbody tr",
    needs: ["operatorListPlanOrgs"],
  },
  { name: "operator-payments", address: at("payments"), needs: ["operatorListPayments"] },
  {
    name: "operator-payments-closed",
    address: at("payments?status=closed"),
    needs: ["operatorListPayments"],
  },
  {
    name: "operator-uncharged",
    address: at("payments/uncharged"),
    shows: ".empty",
    needs: ["operatorListUncharged"],
  },
  {
    name: "operator-invoices",
    address: at("payments/invoices"),
    needs: ["operatorListUnregistered", "operatorExportInvoices"],
  },
  {
    name: "operator-reconciliation",
    address: at("reconciliation"),
    shows: "main .note",
    needs: ["operatorGetReconciliation"],
  },
  { name: "operator-bills", address: at("provider-bills"), needs: ["operatorCheckProviderBill"] },
  {
    name: "operator-bills-empty",
    address: at("provider-bills"),
    click: ["button:has-text('Compare')"],
    shows: ".field-fault",
    needs: ["operatorCheckProviderBill"],
  },
  {
    name: "operator-receipt-keys",
    address: at("receipt-keys"),
    shows: "tbody tr",
    needs: ["rotateReceiptKey", "getReceiptKeys"],
  },
  {
    name: "operator-receipt-keys-rotate",
    address: at("receipt-keys"),
    click: ["button:has-text('Rotate key')"],
    shows: "dialog",
    needs: ["rotateReceiptKey", "getReceiptKeys"],
  },
  { name: "operator-usage", address: at("usage?range=30d"), shows: "tbody tr", needs: ["operatorSumUsage"] },
  {
    name: "operator-usage-models",
    address: at("usage?range=7d&by=model"),
    shows: "tbody tr",
    needs: ["operatorSumUsage"],
  },
  {
    name: "operator-usage-storage",
    address: at("usage/storage"),
    shows: "tbody tr",
    needs: ["operatorGetUsage"],
  },
  {
    name: "operator-providers",
    address: at("providers"),
    shows: "tbody tr",
    needs: ["operatorListProviders"],
  },
  {
    name: "operator-provider",
    address: ({ provider }) => at(`providers/${provider}`),
    shows: "tbody tr",
    needs: ["operatorGetProvider"],
  },
  { name: "operator-jobs", address: at("jobs"), needs: ["operatorListJobs"] },
  { name: "operator-cells", address: at("cells"), shows: ".note", needs: ["operatorListCells"] },
  { name: "operator-analysts", address: at("analysts"), needs: ["operatorListAnalyticsUsers"] },
  {
    name: "operator-analyst-new",
    address: at("analysts"),
    click: ["button:has-text('New analyst')"],
    shows: "dialog",
    needs: ["operatorListAnalyticsUsers", "operatorCreateAnalyticsUser"],
  },
  { name: "operator-backups", address: at("backups"), needs: ["operatorBeginBackup"] },
  {
    name: "operator-backups-hold",
    address: at("backups"),
    click: ["button:has-text('Hold the files still')"],
    shows: "dialog",
    needs: ["operatorBeginBackup"],
  },
];

/** A dialog of one organisation. */
function orgDialog(name: string, button: string, operation: NonNullable<View["needs"]>[number]): View[] {
  return [
    {
      name,
      address: ({ org }) => at(`organisations/${org}`),
      click: [`button:has-text('${button}')`],
      shows: "dialog",
      needs: ["operatorGetOrg", operation],
    },
  ];
}
