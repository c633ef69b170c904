/** Headings of the reference, in its order. */
import type { Group } from "../../base/operation/group.ts";
import type { OpenApiDocument } from "./openapi-types.ts";

/** Heading of pages, which are no routes. */
export const PAGES = "Operation" satisfies Group;
/** Heading of what receivers of webhooks get. */
export const EVENTS = "Events sent to webhooks";

/** In the order of the reference. */
const ABOUT: Readonly<Record<Group | typeof EVENTS, string>> = {
  Inference: "Model calls in the formats of OpenAI and Anthropic.",
  "Native inference": "Model calls in the gateway's own format.",
  Catalog: "Models, their endpoints, prices and figures.",
  Usage: "What was called, by whom, and what it cost.",
  "Routing policies": "Versioned documents that choose endpoints.",
  Credits: "The prepaid balance and its ledger.",
  Plans: "What an org may do, and what it pays for that each month.",
  Invoices: "What an org was billed: invoices, statements, credit notes.",
  Keys: "API keys and their limits.",
  "Provider keys": "An org's own keys at providers.",
  Apps: "An org's apps, and what everybody may see of them.",
  Projects: "Groups of keys with a budget.",
  Organisations: "Orgs, their settings, and their people.",
  Tickets: "What an org asks its operator for.",
  Events: "What happened in an org, and who did it.",
  "Sign-in": "Console sessions, by OpenID Connect.",
  Directory: "Members that a company's identity provider adds and removes (SCIM).",
  Webhooks: "URLs that an org's events are posted to.",
  [EVENTS]: "What receivers get.",
  Operator: "What the operator of the installation sees and decides.",
  [PAGES]: "For whoever operates the gateway.",
};

export const TAGS: OpenApiDocument["tags"] = Object.entries(ABOUT).map(([name, description]) => ({
  name,
  description,
}));
