/** Where findings of `GET /v1/attention` come from: the rooms that know. */
import type { AttentionSource } from "../../../account/attention/finding.ts";
import { AutoTopupTables } from "../../../billing/auto-topups/auto-topup.ts";
import { MandateTables } from "../../../billing/mandates/tables.ts";
import { ParkedPayments } from "../../../billing/parked.ts";
import { SubscriptionTables } from "../../../billing/subscriptions/tables.ts";
import { UnchargedCalls } from "../../../credits/ledger/uncharged.ts";
import { budgetPorts } from "../budget-owners.ts";
import type { House } from "../house.ts";
import { accountFindings, upkeepFindings } from "./account-findings.ts";
import { callFindings, downFindings } from "./call-findings.ts";
import { moneyFindings } from "./money-findings.ts";
import { operatorFindings } from "./operator-findings.ts";

export function attentionSources(house: House): readonly AttentionSource[] {
  const { ground, people, routing, webhooks } = house;
  const { accounts } = people.account;
  const { store, clock, catalog, jobs } = ground;
  return [
    ...moneyFindings({
      ...budgetPorts(house),
      accounts,
      subscriptions: new SubscriptionTables(store),
      autoTopups: new AutoTopupTables(store),
      mandates: new MandateTables(store),
    }),
    ...callFindings({ clock, catalog, health: routing.health, policies: routing.policies.tables }),
    ...accountFindings({ accounts, clock, webhooks: webhooks.tables, jobs, catalog }),
  ];
}

/** Those of `GET /v1/operator/attention`: of the installation, and of no org. */
export function operatorSources({ ground, people, routing, billing }: House): readonly AttentionSource[] {
  const { store, clock, catalog, jobs, cell } = ground;
  return [
    { needs: "operator", find: downFindings({ clock, catalog, health: routing.health }) },
    ...operatorFindings({
      nameOf: (orgId) => people.account.accounts.org(orgId)?.name,
      tickets: people.account.tickets,
      parked: new ParkedPayments(store),
      uncharged: new UnchargedCalls(store),
      unregistered: billing.invoices.unregistered,
      reconciliation: billing.books.figures,
      cells: cell,
    }),
    ...upkeepFindings({ jobs, catalog }),
  ];
}
