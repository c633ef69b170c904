/** What people, keys and other things are called that the audit knows by their ids. */
import { useAnswer } from "../../api/answers.ts";
import { mayCall, org } from "../../app/session.ts";

/** The newest of these are known by name; others are shown by their id. */
const MOST_KEYS = 200;

export function useNames(): (id: string) => string | undefined {
  const id = org.value?.id ?? "";
  const members = useAnswer("listMembers", mayCall("listMembers") ? { params: { org: id } } : undefined);
  const keys = useAnswer("listKeys", mayCall("listKeys") ? { query: { limit: MOST_KEYS } } : undefined);
  const names = new Map<string, string>();
  for (const { user_id: user, name, email } of members.value.value?.data ?? [])
    names.set(user, name ?? email);
  for (const { id: key, name } of keys.value.value?.data ?? []) names.set(key, name);
  if (org.value !== undefined) names.set(org.value.id, org.value.name);
  return (wanted) => names.get(wanted);
}
