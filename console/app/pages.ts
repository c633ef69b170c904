/** The pages of an org and those of the operator: where each is, which operations it cannot do without, and how it is loaded. A page that the role does not open is not listed. */
import type { ComponentType } from "preact";
import type { Name } from "../api/call.ts";

/** The navigation has these, in this order. */
export const SECTIONS = [
  "Use",
  "Models and routing",
  "Keys and money",
  "Organisation",
  "Customers",
  "Money",
  "Installation",
] as const;
type Section = (typeof SECTIONS)[number];

export interface ConsolePage {
  /** First segment behind the org. */
  readonly path: string;
  /** Undefined: the navigation has it before its sections. */
  readonly section?: Section;
  readonly title: string;
  /** Words by which the palette finds it, beside its title. */
  readonly words: string;
  readonly needs: readonly Name[];
  /** Not in the navigation: something leads there. */
  readonly isHidden?: boolean;
  /** The person's own menu leads there. */
  readonly isOwn?: boolean;
  readonly load: () => Promise<ComponentType>;
}

/** The person's own, wherever they are. */
const OWN_PAGES: readonly ConsolePage[] = [
  {
    path: "your-organisations",
    title: "Your organisations",
    words: "switch choose new create join leave organization invitations",
    needs: ["createOrg"],
    isHidden: true,
    isOwn: true,
    load: async () => (await import("../pages/orgs/orgs.tsx")).Orgs,
  },
  {
    path: "sessions",
    title: "Sessions",
    words: "devices browsers sign out second factor security",
    needs: ["listSessions"],
    isHidden: true,
    isOwn: true,
    load: async () => (await import("../pages/sessions/sessions.tsx")).Sessions,
  },
];

/** Pages of an org, in the order of the navigation; the first that the role opens is the home. */
export const PAGES: readonly ConsolePage[] = [
  {
    path: "overview",
    section: "Use",
    title: "Overview",
    words: "home usage spend",
    needs: ["getUsage"],
    load: async () => (await import("../pages/overview/overview.tsx")).Overview,
  },
  {
    path: "requests",
    section: "Use",
    title: "Requests",
    words: "calls log feed traces errors",
    needs: ["listRequests"],
    load: async () => (await import("../pages/requests/requests.tsx")).Requests,
  },
  {
    path: "live",
    section: "Use",
    title: "Live",
    words: "running now tail stream",
    needs: ["listRequests"],
    load: async () => (await import("../pages/live/live.tsx")).Live,
  },
  {
    path: "playground",
    section: "Use",
    title: "Playground",
    words: "try model prompt chat",
    needs: ["createPlaygroundKey"],
    load: async () => (await import("../pages/playground/playground.tsx")).Playground,
  },
  {
    path: "setup",
    section: "Use",
    title: "Set up",
    words: "connect clients base url sdk claude code codex cline",
    needs: ["listKeys"],
    load: async () => (await import("../pages/setup/setup.tsx")).Setup,
  },
  {
    path: "apps",
    section: "Use",
    title: "Apps",
    words: "public page badge rankings register",
    needs: ["listApps"],
    load: async () => (await import("../pages/apps/apps.tsx")).Apps,
  },
  {
    path: "models",
    section: "Models and routing",
    title: "Models",
    words: "catalog prices endpoints",
    needs: ["listModels"],
    load: async () => (await import("../pages/models/models.tsx")).Models,
  },
  {
    path: "policies",
    section: "Models and routing",
    title: "Policies",
    words: "routing rules endpoints order canary shadow experiment",
    needs: ["listPolicies"],
    load: async () => (await import("../pages/policies/policies.tsx")).Policies,
  },
  {
    path: "keys",
    section: "Keys and money",
    title: "Keys",
    words: "api secret rotate revoke limits",
    needs: ["listKeys"],
    load: async () => (await import("../pages/keys/keys.tsx")).Keys,
  },
  {
    path: "provider-keys",
    section: "Keys and money",
    title: "Provider keys",
    words: "own byok credential openai anthropic bedrock vertex",
    needs: ["listProviderKeys"],
    load: async () => (await import("../pages/provider-keys/provider-keys.tsx")).ProviderKeys,
  },
  {
    path: "credits",
    section: "Keys and money",
    title: "Credits",
    words: "balance ledger top-up refund money",
    needs: ["getCredits"],
    load: async () => (await import("../pages/credits/credits.tsx")).Credits,
  },
  {
    path: "billing",
    section: "Keys and money",
    title: "Billing",
    words: "plan subscription automatic top-up mandate invoices credit notes tax gstin statement",
    needs: ["getSubscription"],
    load: async () => (await import("../pages/billing/billing.tsx")).Billing,
  },
  {
    path: "projects",
    section: "Organisation",
    title: "Projects",
    words: "budgets month spend limits environments",
    needs: ["listProjects"],
    load: async () => (await import("../pages/projects/projects.tsx")).Projects,
  },
  {
    path: "members",
    section: "Organisation",
    title: "Members",
    words: "people users roles invite invitations remove leave owner transfer",
    needs: ["listMembers"],
    load: async () => (await import("../pages/members/members.tsx")).Members,
  },
  {
    path: "webhooks",
    section: "Organisation",
    title: "Webhooks and events",
    words: "hooks deliveries redeliver receiver signature notify",
    needs: ["listEvents"],
    load: async () => (await import("../pages/webhooks/webhooks.tsx")).Webhooks,
  },
  {
    path: "audit",
    section: "Organisation",
    title: "Audit",
    words: "who did what changes history log",
    needs: ["listAudit"],
    load: async () => (await import("../pages/audit/audit.tsx")).Audit,
  },
  {
    path: "tickets",
    section: "Organisation",
    title: "Tickets",
    words: "ask support help higher limits operator question",
    needs: ["listTickets"],
    load: async () => (await import("../pages/tickets/tickets.tsx")).Tickets,
  },
  {
    path: "settings",
    section: "Organisation",
    title: "Settings",
    words:
      "general data policy redaction retention security directory scim analysts sql export close erase zone",
    needs: [],
    load: async () => (await import("../pages/settings/settings.tsx")).Settings,
  },
  {
    path: "welcome",
    section: "Use",
    title: "Your first call",
    words: "welcome start try begin",
    needs: ["getUsage", "createPlaygroundKey"],
    isHidden: true,
    load: async () => (await import("../pages/welcome/welcome.tsx")).Welcome,
  },
  ...OWN_PAGES,
];

/** About the installation, at `/console/operator/…`; the first is the home. */
export const OPERATOR_PAGES: readonly ConsolePage[] = [
  {
    path: "now",
    title: "Now",
    words: "overview home attention needs",
    needs: ["operatorGetAttention"],
    load: async () => (await import("../pages/operator/now/now.tsx")).Now,
  },
  {
    path: "organisations",
    section: "Customers",
    title: "Organisations",
    words: "orgs customers suspend resume grant credit payment",
    needs: ["operatorListOrgs"],
    load: async () => (await import("../pages/operator/organisations/organisations.tsx")).Organisations,
  },
  {
    path: "tickets",
    section: "Customers",
    title: "Tickets",
    words: "requests limits refunds decide approve reject",
    needs: ["operatorListTickets"],
    load: async () => (await import("../pages/operator/tickets/tickets.tsx")).Tickets,
  },
  {
    path: "plans",
    section: "Customers",
    title: "Plans",
    words: "limits in force raised keys",
    needs: ["operatorListPlans"],
    load: async () => (await import("../pages/operator/plans/plans.tsx")).Plans,
  },
  {
    path: "payments",
    section: "Money",
    title: "Payments to look at",
    words: "parked not credited uncharged calls invoices irn export gst",
    needs: ["operatorListPayments"],
    load: async () => (await import("../pages/operator/payments/payments.tsx")).Payments,
  },
  {
    path: "reconciliation",
    section: "Money",
    title: "Reconciliation",
    words: "books day findings ledger gateways",
    needs: ["operatorGetReconciliation"],
    load: async () => (await import("../pages/operator/reconciliation/reconciliation.tsx")).Reconciliation,
  },
  {
    path: "provider-bills",
    section: "Money",
    title: "Provider bills",
    words: "compare csv drift unbilled openai anthropic",
    needs: ["operatorCheckProviderBill"],
    load: async () => (await import("../pages/operator/provider-bills/provider-bills.tsx")).ProviderBills,
  },
  {
    path: "receipt-keys",
    section: "Money",
    title: "Keys of receipts",
    words: "rotate sign jwks jws verify",
    needs: ["rotateReceiptKey", "getReceiptKeys"],
    load: async () => (await import("../pages/operator/receipt-keys/receipt-keys.tsx")).ReceiptKeys,
  },
  {
    path: "usage",
    section: "Installation",
    title: "Usage",
    words: "spend calls tokens storage disk organisations models providers",
    needs: ["operatorSumUsage"],
    load: async () => (await import("../pages/operator/usage/usage.tsx")).InstallationUsage,
  },
  {
    path: "providers",
    section: "Installation",
    title: "Providers",
    words: "health endpoints credentials keys refusals unmatched",
    needs: ["operatorListProviders"],
    load: async () => (await import("../pages/operator/providers/providers.tsx")).Providers,
  },
  {
    path: "jobs",
    section: "Installation",
    title: "Jobs given up",
    words: "retry drop mail webhooks failed",
    needs: ["operatorListJobs"],
    load: async () => (await import("../pages/operator/jobs/jobs.tsx")).Jobs,
  },
  {
    path: "cells",
    section: "Installation",
    title: "Cells",
    words: "cluster gateways lag retire leases",
    needs: ["operatorListCells"],
    load: async () => (await import("../pages/operator/cells/cells.tsx")).Cells,
  },
  {
    path: "analysts",
    section: "Installation",
    title: "Analysts",
    words: "clickhouse database users sql connection",
    needs: ["operatorListAnalyticsUsers"],
    load: async () => (await import("../pages/operator/analysts/analysts.tsx")).Analysts,
  },
  {
    path: "backups",
    section: "Installation",
    title: "Backups",
    words: "copy freeze restore snapshot",
    needs: ["operatorBeginBackup"],
    load: async () => (await import("../pages/operator/backups/backups.tsx")).Backups,
  },
  ...OWN_PAGES,
];
