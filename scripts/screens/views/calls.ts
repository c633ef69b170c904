/** Overview, requests and what runs now. */
import type { View } from "./view.ts";

export const CALLS: readonly View[] = [
  { name: "overview", address: "overview", needs: ["getUsage"] },
  { name: "overview-90-days", address: "overview?range=90d", needs: ["getUsage"] },
  { name: "requests", address: "requests", shows: "tbody tr", needs: ["listRequests"] },
  {
    name: "requests-filtered",
    address: "requests?status=failed&within=30d",
    shows: "tbody tr",
    needs: ["listRequests"],
  },
  { name: "requests-none", address: "requests?model=none%2Fsuch", shows: ".empty", needs: ["listRequests"] },
  { name: "request-answered", address: ({ answered }) => `requests/${answered}`, needs: ["listRequests"] },
  { name: "request-tools", address: ({ tools }) => `requests/${tools}`, needs: ["listRequests"] },
  { name: "request-failed", address: ({ failed }) => `requests/${failed}`, needs: ["listRequests"] },
  { name: "request-refused", address: ({ refused }) => `requests/${refused}`, needs: ["listRequests"] },
  { name: "request-fallback", address: ({ fallback }) => `requests/${fallback}`, needs: ["listRequests"] },
  {
    name: "live",
    address: "live",
    shows: "[aria-label='Ended calls'] tbody tr",
    needs: ["listRequests"],
    withCalls: true,
  },
  {
    name: "live-call",
    address: "live",
    click: ["a:has-text('Watch')"],
    shows: ".turn",
    needs: ["listRequests", "readCallStream"],
    readsPayloads: true,
    withCalls: true,
  },
  {
    name: "live-call-missing",
    address: ({ answered }) => `live/${answered}`,
    shows: "main .note",
    needs: ["listRequests", "readCallStream"],
    readsPayloads: true,
    isError: true,
  },
  {
    name: "request-missing",
    address: "requests/00000000000000000000000000",
    click: ["text='Try again'"],
    shows: "[role=alert]",
    needs: ["listRequests"],
    isError: true,
  },
];
