/** Headings of the reference, in its order. */
import type { Group } from "../../base/operation/group.ts";
import type { OpenApiDocument } from "./openapi-types.ts";

/** Heading of pages, which are no routes. */
export const PAGES = "Operation" satisfies Group;
/** Heading of what receivers of webhooks get. */
export const EVENTS = "Events sent to webhooks";

type Tag = OpenApiDocument["tags"][number] & { readonly name: Group | typeof EVENTS };

export const TAGS: readonly Tag[] = [
  { name: "Inference", description: "Model calls in the formats of OpenAI and Anthropic." },
  { name: "Native inference", description: "Model calls in the gateway's own format." },
  { name: "Catalog", description: "Models, their endpoints, prices and figures." },
  { name: "Usage", description: "What was called, by whom, and what it cost." },
  { name: "Routing policies", description: "Versioned documents that choose endpoints." },
  { name: "Credits", description: "The prepaid balance and its ledger." },
  { name: "Plans", description: "What an org may do, and what it pays for that each month." },
  { name: "Invoices", description: "What an org was billed: invoices, statements, credit notes." },
  { name: "Keys", description: "API keys and their limits." },
  { name: "Provider keys", description: "An org's own keys at providers." },
  { name: "Apps", description: "An org's apps, and what everybody may see of them." },
  { name: "Projects", description: "Groups of keys with a budget." },
  { name: "Organisations", description: "Orgs, their settings, and their people." },
  { name: "Tickets", description: "What an org asks its operator for." },
  { name: "Sign-in", description: "Console sessions, by OpenID Connect." },
  { name: "Directory", description: "Members that a company's identity provider adds and removes (SCIM)." },
  { name: "Webhooks", description: "URLs that an org's events are posted to." },
  { name: EVENTS, description: "What receivers get." },
  { name: PAGES, description: "For whoever operates the gateway." },
];
