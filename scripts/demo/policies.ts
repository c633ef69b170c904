/** The policies of a demo: one of the whole org, whose versions replaced each other, and one of a project, whose canary turns red. */
import type { ProjectSlug } from "./cast.ts";
import { CANARY_MODEL, FAILING } from "./catalog.ts";
import type { Person } from "./person.ts";

export const ECONOMY = "economy";

/** All but the last are activated one after the other; the last is a draft, which names a region that the catalog does not have. */
export const ECONOMY_VERSIONS = [
  `version: 1
defaults:
  sort: price
`,
  `version: 1
defaults:
  sort: balanced
rules:
  - name: long prompts
    match: { min_input_tokens: 100000 }
    then: { sort: price }
`,
  `version: 1
# Calls of one session stay where their prompt is cached.
defaults:
  sort: balanced
  affinity: session
rules:
  - name: long prompts
    match: { min_input_tokens: 100000 }
    then: { sort: price, timeout_ms: 120000 }
  - name: evaluation
    match: { app: evaluation }
    then: { fallbacks: false }
`,
  `version: 1
# Calls of one session stay where their prompt is cached.
defaults:
  sort: balanced
  affinity: session
rules:
  - name: legal
    match: { app: contracts }
    then:
      require:
        regions: [eu, moon]
  - name: long prompts
    match: { min_input_tokens: 100000 }
    then: { sort: price, timeout_ms: 120000 }
  - name: evaluation
    match: { app: evaluation }
    then: { fallbacks: false }
`,
] as const;

/** The canary is of one project, so that it turns red by that project's calls. */
export async function makePolicies(owner: Person, projects: ReadonlyMap<ProjectSlug, string>): Promise<void> {
  const [first, ...later] = ECONOMY_VERSIONS;
  await owner.call("POST", "/v1/policies", { name: ECONOMY, yaml: first });
  for (const yaml of later) await owner.call("POST", `/v1/policies/${ECONOMY}/versions`, { yaml });
  for (let version = 1; version <= later.length; version++)
    await owner.call("POST", `/v1/policies/${ECONOMY}/activate`, { version });
  const canary = `{ endpoint: ep_${FAILING}_gpt-5.4-mini_eu, percent: 50, max_error_rate: 0.02, min_samples: 5 }`;
  const yaml = `version: 1\nrules:\n  - match: { model: "${CANARY_MODEL}" }\n    then:\n      canary: ${canary}\n`;
  await owner.call("POST", "/v1/policies", { name: "north-cloud-trial", yaml });
  const scope = { project_id: projects.get("checkout") };
  await owner.call("POST", "/v1/policies/north-cloud-trial/activate", { version: 1, scope });
}
