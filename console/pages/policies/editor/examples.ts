/** What a new policy can begin with. None names anything of a catalog, so that each is valid everywhere. */

export interface Example {
  readonly title: string;
  /** A name for the policy. */
  readonly name: string;
  readonly yaml: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: "Cheapest first",
    name: "economy",
    yaml: `version: 1
defaults:
  sort: price
  max_attempts: 3
`,
  },
  {
    title: "Nothing is kept or trained on",
    name: "confidential",
    yaml: `version: 1
defaults:
  require:
    zdr: true
    no_train: true
`,
  },
  {
    title: "Short prompts fast, long ones cheap",
    name: "by-length",
    yaml: `version: 1
rules:
  - name: short
    match:
      max_input_tokens: 2000
    then:
      sort: latency
  - name: long
    then:
      sort: price
      timeout_ms: 60000
`,
  },
  {
    title: "One app apart from the rest",
    name: "by-app",
    yaml: `version: 1
sort: balanced
rules:
  - name: nightly
    match:
      app: nightly-report
    then:
      sort: price
      hedge_after_ms: 0
`,
  },
];
