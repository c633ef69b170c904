/** Credit and top-ups. */
import type { View } from "./view.ts";

export const CREDITS: readonly View[] = [
  { name: "credits", address: "credits", needs: ["getCredits"] },
  { name: "credits-ledger", address: "credits/ledger", shows: "tbody tr", needs: ["listLedger"] },
  { name: "credits-topups", address: "credits/topups", shows: "tbody tr", needs: ["listTopups"] },
  { name: "credits-topup-new", address: "credits/topups/new", needs: ["createTopup"] },
  { name: "credits-topup", address: ({ topup }) => `credits/topups/${topup}`, needs: ["getTopup"] },
  {
    name: "credits-refund",
    address: ({ topup }) => `credits/topups/${topup}`,
    click: ["text='Refund'"],
    shows: "dialog",
    needs: ["getTopup", "refundTopup"],
  },
  {
    name: "credits-topup-refunded",
    address: ({ refundedTopup }) => `credits/topups/${refundedTopup}`,
    shows: "tbody tr",
    needs: ["getTopup"],
  },
];
