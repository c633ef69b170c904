/** Plan, automatic top-ups, documents, tax details. */
import type { View } from "./view.ts";

const CHANGE = ["getSubscription", "changeSubscription"] as const;

export const BILLING: readonly View[] = [
  { name: "billing", address: "billing", shows: "tbody tr", needs: ["getSubscription"] },
  { name: "billing-plan-up", address: "billing/plans/enterprise", shows: ".figures", needs: CHANGE },
  { name: "billing-plan-down", address: "billing/plans/starter", shows: ".tabs button", needs: CHANGE },
  {
    name: "billing-plan-down-now",
    address: "billing/plans/starter?when=now",
    shows: "[aria-pressed='true']",
    needs: CHANGE,
  },
  {
    name: "billing-plan-cancel",
    address: "billing/plans/free",
    shows: "[data-kind='danger']",
    needs: CHANGE,
  },
  { name: "billing-plan-demo", address: "billing/plans/demo", shows: "[data-kind='danger']", needs: CHANGE },
  { name: "billing-plan-same", address: "billing/plans/team", shows: "section", needs: CHANGE },
  { name: "billing-auto", address: "billing/auto", shows: ".facts", needs: ["getAutoTopup"] },
  {
    name: "billing-auto-another",
    address: "billing/auto",
    click: ["text='Use another'"],
    shows: "main select",
    needs: ["getAutoTopup", "createMandate"],
  },
  {
    name: "billing-auto-cancel",
    address: "billing/auto",
    click: ["text='Cancel mandate'"],
    shows: "dialog",
    needs: ["getAutoTopup", "cancelMandate"],
  },
  { name: "billing-invoices", address: "billing/invoices", shows: "tbody tr", needs: ["listInvoices"] },
  {
    name: "billing-invoice",
    address: ({ invoice }) => `billing/invoices/${invoice}`,
    shows: ".paper",
    needs: ["getInvoice"],
  },
  {
    name: "billing-credit-note",
    address: ({ creditNote }) => `billing/invoices/${creditNote}`,
    shows: ".paper",
    needs: ["getInvoice"],
  },
  {
    name: "billing-statement",
    address: ({ statement }) => `billing/invoices/${statement}`,
    shows: ".paper",
    needs: ["getInvoice"],
  },
  {
    name: "billing-correction",
    address: ({ invoice }) => `billing/invoices/${invoice}`,
    click: ["text='Correct the GSTIN'"],
    shows: "dialog",
    needs: ["getInvoice", "correctInvoice"],
  },
  {
    name: "billing-resend",
    address: ({ invoice }) => `billing/invoices/${invoice}`,
    click: ["text='Mail it again'"],
    shows: "dialog",
    needs: ["getInvoice", "resendInvoice"],
  },
  { name: "billing-tax", address: "billing/tax", shows: ".paper", needs: ["getSubscription"] },
];
