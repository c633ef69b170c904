/** Brings budgets of a demo near their end, by what real calls have spent. */
import { makeCalls, requestOf, spentKeyCalls } from "./calls.ts";
import { type ProjectSlug, SPENT_KEY } from "./cast.ts";
import type { World } from "./world.ts";

/** Refused, once the budget is used up. */
const REFUSED_CALLS = 12;

/** Sets the monthly budget of a project so that nine tenths of it are spent; sets none where nothing is. */
export async function nearBudget({ owner, projects }: World, slug: ProjectSlug): Promise<void> {
  const path = `/v1/projects/${projects.get(slug)}`;
  const { spend_month_micro: spent } = await owner.call<{ spend_month_micro: number }>("GET", path);
  if (spent === 0) return;
  await owner.call("PATCH", path, { budget: { monthly_micro: Math.ceil(spent / 0.9), hard: true } });
}

/** Sets a key's daily budget to what it has spent today: its next calls are refused. */
export async function useUpBudget(url: string, { owner, keys }: World): Promise<void> {
  const key = keys.find(({ name }) => name === SPENT_KEY);
  if (key === undefined) return;
  const setTo = (daily_micro: number) =>
    owner.call("PATCH", `/v1/keys/${key.id}`, { budget: { daily_micro, hard: true } });
  const plans = spentKeyCalls(key, REFUSED_CALLS + 1);
  const [first, ...others] = plans;
  if (first === undefined) return;
  await setTo(1);
  // Its refusal says what was spent.
  const refusal = await (await requestOf(url, first)).json();
  const spent = (refusal as { error: { details?: { spent_micro?: number } } }).error.details?.spent_micro;
  if (spent === undefined) throw new Error(`the spent key was not refused: ${JSON.stringify(refusal)}`);
  await setTo(Math.max(1, spent));
  await makeCalls(url, others);
}
