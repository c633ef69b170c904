/** Worked examples of the reference's first page. A test sends each to a gateway. */

export interface Step {
  readonly says: string;
  readonly method: string;
  /** Words in capitals behind `$` are what a step before answered. */
  readonly path: string;
  readonly body?: object;
}

export interface Example {
  readonly title: string;
  readonly about: string;
  readonly steps: readonly Step[];
}

/** A key that may spend 5 dollars a day, in a project that may spend 200 dollars a month. */
const KEY_WITH_LIMITS: Example = {
  title: "A key with limits and budgets",
  about:
    "The key makes at most 60 calls and uses at most 200,000 tokens a minute, has four calls at once, and spends at most $5.00 a day. Its " +
    "project spends at most $200.00 a month. Amounts are micro-USD: a million is a dollar. Days and months are those of the org's time zone. " +
    "A call that could exceed a hard budget is refused with 402 `budget_exceeded` before any provider is asked; with `hard: false` it passes, " +
    "and an event and a mail tell of it.",
  steps: [
    {
      says: "A project, then its budget. Answers have its `id`.",
      method: "POST",
      path: "/v1/projects",
      body: { slug: "nightly", name: "Nightly jobs" },
    },
    {
      says: "",
      method: "PATCH",
      path: "/v1/projects/$PROJECT_ID",
      body: { budget: { monthly_micro: 200_000_000, hard: true } },
    },
    {
      says: "The key. Its `secret` is in this answer alone; it ends by itself after thirty days.",
      method: "POST",
      path: "/v1/keys",
      body: {
        name: "Nightly summaries",
        project_id: "$PROJECT_ID",
        limits: { rpm: 60, tpm: 200_000, concurrency: 4 },
        budget: { daily_micro: 5_000_000, hard: true },
        expires_in: "720h",
      },
    },
    { says: "What is left of each, now.", method: "GET", path: "/v1/limits" },
  ],
};

export const EXAMPLES: readonly Example[] = [KEY_WITH_LIMITS];
