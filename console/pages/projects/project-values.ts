/**
 * What a form says about a project, and what the API is asked by it: everything of a new one, and of one that is changed only what
 * differs. Pure.
 */
import type { Operations } from "../../api/operations.ts";
import { microOf, microText } from "../../text/amounts.ts";
import { slugFault, slugOf } from "../../text/slug.ts";

export type Project = Operations["getProject"]["answer"];

export interface ProjectValues {
  readonly name: string;
  /** Undefined: made of the name. */
  readonly slug: string | undefined;
  readonly environment: Project["environment"];
  /** US dollars a month, as typed; empty: none. */
  readonly budget: string;
  readonly isHard: boolean;
  /** Empty: as the organisation has it. */
  readonly hold: "" | "full" | "fit";
}

export const NEW_PROJECT: ProjectValues = {
  name: "",
  slug: undefined,
  environment: "live",
  budget: "",
  isHard: true,
  hold: "",
};

export function valuesOf(project: Project): ProjectValues {
  const { monthly_micro: monthly, hard } = project.budget;
  return {
    name: project.name,
    slug: project.slug,
    environment: project.environment,
    budget: monthly > 0 ? microText(monthly) : "",
    isHard: monthly === 0 || hard,
    hold: project.hold ?? "",
  };
}

export const shownSlug = ({ slug, name }: ProjectValues): string => slug ?? slugOf(name);

/** What is wrong with each field, before the API is asked. */
export function faultsOf(values: ProjectValues): Partial<Record<keyof ProjectValues, string>> {
  const slug = slugFault(shownSlug(values));
  return {
    ...(values.name.trim() === "" && { name: "Give the project a name." }),
    ...(slug !== undefined && { slug }),
    ...(values.budget.trim() !== "" &&
      !((microOf(values.budget) ?? 0) > 0) && {
        budget: "An amount in dollars, such as 50 or 0.50, or nothing.",
      }),
  };
}

/** null: none. */
const monthlyIn = ({ budget }: ProjectValues): number | null => microOf(budget) ?? null;

/** @param values without faults */
export function createBody(values: ProjectValues): Operations["createProject"]["body"] {
  const monthly = monthlyIn(values);
  return {
    name: values.name.trim(),
    slug: shownSlug(values),
    environment: values.environment,
    ...(monthly !== null && { budget: { monthly_micro: monthly, hard: values.isHard } }),
    ...(values.hold !== "" && { hold: values.hold }),
  };
}

/**
 * Only what differs from the project; null clears.
 * @param values without faults
 * @returns undefined where nothing does
 */
export function patchBody(
  project: Project,
  values: ProjectValues,
): Operations["updateProject"]["body"] | undefined {
  const old = valuesOf(project);
  const budget = budgetChange(old, values);
  const body = {
    ...(values.name.trim() !== old.name && { name: values.name.trim() }),
    ...(budget !== undefined && { budget }),
    ...(values.hold !== old.hold && { hold: values.hold === "" ? null : values.hold }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

function budgetChange(old: ProjectValues, values: ProjectValues) {
  const [before, after] = [monthlyIn(old), monthlyIn(values)];
  if (after === null) return before === null ? undefined : { monthly_micro: null };
  if (before === after && old.isHard === values.isHard) return undefined;
  return { monthly_micro: after, hard: values.isHard };
}

/** What a project's budget does once it is used up, after the amount. */
export const budgetWords = (hard: boolean): string =>
  hard ? "then calls are refused until the month is over" : "only told: calls go on";
