/** The frame, and the gateway's own pages. */
import type { View } from "./view.ts";

export const FRAME: readonly View[] = [
  { name: "palette", address: "setup", press: "Control+k", shows: "dialog li", needs: ["listKeys"] },
  { name: "menu", address: "no-such-page", click: [".shell-own summary"], shows: ".shell-own[open]" },
  { name: "missing", address: "no-such-page" },
  { name: "start", address: "/" },
  { name: "docs", address: "/docs" },
  { name: "docs-keys", address: "/docs/keys" },
  { name: "docs-search", address: "/docs/search?q=budget" },
  { name: "not-found", address: "/no/such/page", isError: true },
  { name: "no-org", address: "/console/no-such-org" },
];
