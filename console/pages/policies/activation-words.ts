/** What an activation, a roll-back and a deactivation do, in words; and which version was in force before. Pure. */

/** What is in force in a scope. */
export interface InForce {
  readonly policy: string;
  readonly version: number;
}

/** The scope of the whole org; a project's is its id. */
export const WHOLE_ORG = "";

/** By scope. */
export type Scopes = ReadonlyMap<string, InForce>;

interface ListedPolicy {
  readonly name: string;
  readonly in_force: readonly { readonly version: number; readonly project_id?: string }[];
}

export const scopesOf = (policies: readonly ListedPolicy[]): Scopes =>
  new Map(
    policies.flatMap(({ name, in_force: active }) =>
      active.map(({ version, project_id: id = WHOLE_ORG }) => [id, { policy: name, version }] as const),
    ),
  );

/** A scope as it is called in a sentence. @param project its name; undefined: the whole org */
export const scopeWords = (project: string | undefined): string =>
  project === undefined ? "the whole organisation" : `the project ${project}`;

export interface Step {
  readonly scopes: Scopes;
  readonly scope: string;
  /** The name of the scope's project; undefined: the whole org. */
  readonly project: string | undefined;
  /** Names of the projects that have a policy of their own. */
  readonly others: readonly string[];
}

/** A version of a policy that is named already, or of another one. */
const named = (found: InForce, policy: string): string =>
  found.policy === policy ? `version ${found.version}` : `version ${found.version} of “${found.policy}”`;

/** @returns what happens, a sentence each; undefined where it is in force there already */
export function activationWords(next: InForce, step: Step): readonly string[] | undefined {
  const { scopes, scope, project } = step;
  const old = scopes.get(scope);
  if (old?.policy === next.policy && old.version === next.version) return undefined;
  const where = scopeWords(project);
  const what = `version ${next.version} of “${next.policy}”`;
  const orgs = scopes.get(WHOLE_ORG);
  if (old !== undefined)
    return [
      `From the next call on, ${what} replaces ${named(old, next.policy)} for ${where}.`,
      ...keeping(step),
    ];
  if (project === undefined || orgs === undefined)
    return [
      `From the next call on, ${what} is in force for ${where}, where no policy was.`,
      ...keeping(step),
    ];
  return [
    `From the next call on, ${what} is in force for ${where}, in the place of the organisation's: ${named(orgs, next.policy)}.`,
  ];
}

/** @param policy whose version is taken out of force */
export function deactivationWords(policy: string, step: Step): readonly string[] {
  const { scopes, project } = step;
  const orgs = scopes.get(WHOLE_ORG);
  const ends =
    project !== undefined && orgs !== undefined
      ? `From the next call on, calls of the project ${project} follow the organisation's policy: ${named(orgs, policy)}.`
      : `From the next call on, no policy is in force for ${scopeWords(project)}: endpoints are ordered by price and health.`;
  return [ends, ...keeping(step)];
}

/** What is done to the whole org leaves projects with a policy of their own alone. */
const keeping = ({ project, others }: Step): readonly string[] =>
  project !== undefined || others.length === 0
    ? []
    : [`Projects with a policy of their own keep it: ${others.join(", ")}.`];

interface ListedVersion {
  readonly version: number;
  readonly status: "draft" | "active" | "retired";
}

/** The newest version before one that was in force at some time; undefined where none was. */
export const versionBefore = (versions: readonly ListedVersion[], current: number): number | undefined =>
  versions
    .filter(({ version, status }) => version < current && status !== "draft")
    .reduce<number | undefined>((most, { version }) => Math.max(most ?? 0, version), undefined);
