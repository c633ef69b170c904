/** Who and what a demo has: people, projects, keys, apps and clients. Data only. */

export const OWNER = { email: "owner@example.com", name: "Olivia Marsh" };

/** Each signs in at the built-in identity provider by their address. */
export const MEMBERS = [
  { email: "admin@example.com", name: "Arjun Nair", role: "admin" },
  { email: "member@example.com", name: "Mei Tanaka", role: "member" },
  { email: "billing@example.com", name: "Bruno Costa", role: "billing" },
  { email: "viewer@example.com", name: "Vera Lindqvist", role: "viewer" },
] as const;

/** Was invited, and has not answered. */
export const NEWCOMER = { email: "noor.haddad@example.com" };

/** Somebody of another organisation, which invites the owner. */
export const NEIGHBOUR = {
  email: "ravi@harbour.example.com",
  name: "Ravi Menon",
  org: { slug: "harbour", name: "Harbour Analytics", billing_country: "IN" },
};
/** Whoever runs the installation: in no organisation. */
export const OPERATOR = { email: "operator@example.com", name: "Oskar Lindgren" };

export const PROJECTS = [
  { slug: "checkout", name: "Checkout assistant" },
  { slug: "support", name: "Support desk" },
  { slug: "research", name: "Research notebooks" },
  { slug: "search", name: "Search and indexing" },
  { slug: "tools", name: "Internal tools" },
] as const;
export type ProjectSlug = (typeof PROJECTS)[number]["slug"];

const SERVICES: Readonly<Record<ProjectSlug, readonly string[]>> = {
  checkout: [
    "web",
    "mobile-ios",
    "mobile-android",
    "fraud-check",
    "address-fix",
    "upsell",
    "receipts",
    "load-test",
  ],
  support: [
    "triage",
    "reply-drafts",
    "summaries",
    "translate",
    "voice-notes",
    "quality-audit",
    "escalations",
    "kb-writer",
  ],
  research: [
    "notebook-mei",
    "notebook-arjun",
    "evals",
    "paper-reader",
    "data-cleaning",
    "labelling",
    "agents-lab",
    "nightly-batch",
  ],
  search: [
    "query-rewrite",
    "rerank",
    "embed-products",
    "embed-docs",
    "autocomplete",
    "crawler",
    "facets",
    "synonyms",
  ],
  tools: [
    "claude-code",
    "codex",
    "opencode",
    "cline",
    "open-webui",
    "slack-bot",
    "pr-review",
    "release-notes",
  ],
};

export interface KeyPlan {
  readonly name: string;
  readonly project: ProjectSlug;
  readonly environment: "live" | "test";
}

/** Forty, the busiest ones first: history gives each fewer calls than the one before it. */
export const KEYS: readonly KeyPlan[] = Array.from({ length: 8 }, (_, at) =>
  PROJECTS.map(({ slug }): KeyPlan => {
    const name = SERVICES[slug][at] ?? slug;
    return { name: `${slug}/${name}`, project: slug, environment: name === "load-test" ? "test" : "live" };
  }),
).flat();

/** Its daily budget is used up. */
export const SPENT_KEY = "research/nightly-batch";

export const APPS = [
  { slug: "checkout-assistant", name: "Checkout assistant", category: "customer_support" },
  { slug: "support-desk", name: "Support desk", category: "customer_support" },
  { slug: "paper-reader", name: "Paper reader", category: "research" },
  { slug: "release-notes", name: "Release notes", category: "writing" },
] as const;

/** `User-Agent` of clients that people use, the most frequent ones first. */
export const AGENTS = [
  "OpenAI/Python 3.1.0",
  "claude-cli/2.4.1 (external, cli)",
  "OpenAI/JS 7.55.0",
  "Anthropic/Python 1.11.0",
  "codex_cli_rs/0.61.0",
  "opencode/1.3.2",
  "Open WebUI/0.9.4",
  "Cline/3.40.0",
  "curl/8.9.1",
] as const;

export const TEAMS = ["payments", "care", "science", "platform", "growth"] as const;

export const QUESTIONS = [
  "Summarise this support ticket in two sentences",
  "Which plan suits a team of twelve people?",
  "Write release notes for the last sprint",
  "Translate the reply to Portuguese, please",
  "Explain why the nightly build failed",
  "Draft an answer to an angry customer",
  "Find the bug in this function",
  "Suggest five names for a coffee machine",
  "Is this transaction likely to be fraud?",
  "Turn these notes into a meeting summary",
  "Compare the two proposals for the office",
  "How do I rotate an API key safely?",
] as const;
