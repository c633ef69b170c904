/**
 * Who is signed in, the org that this tab is about, and what the person's role opens there. Nothing here protects anything: the API
 * refuses by itself, and a page leaves out what would be refused.
 */
import { computed, signal } from "@preact/signals";
import { type Answer, ApiError, call, callAs, type Name } from "../api/call.ts";
import { FOR_CLOSED, ROLE_OPENS, ROLE_SCOPES, ROUTES } from "../api/operations.ts";

export type Me = Answer<"getMe">;
type ListedOrg = Me["orgs"][number];
/** An org that this session opens. */
export type Org = Exclude<ListedOrg, { locked: string }>;

export const me = signal<Me | undefined>(undefined);
export const sessionFault = signal<ApiError | undefined>(undefined);
/** Slug in the address. */
export const orgSlug = signal("");

export const listedOrg = computed<ListedOrg | undefined>(() =>
  me.value?.orgs.find(({ slug, id }) => slug === orgSlug.value || id === orgSlug.value),
);
/** Undefined where the person is in no such org, or where their session does not open it. */
export const org = computed<Org | undefined>(() => {
  const listed = listedOrg.value;
  return listed === undefined || "locked" in listed ? undefined : (listed as Org);
});
export const role = computed(() => listedOrg.value?.role);

/** In the place of an org's slug: what is about the installation. No org has this slug. */
export const OPERATOR = "operator";
export const isOperator = computed(() => me.value?.is_operator === true);
export const isOperatorPlace = computed(() => orgSlug.value === OPERATOR);

/** Calls are about this org from now on. @param slug undefined: the one that the session is about */
export function chooseOrg(slug: string | undefined): void {
  const known = me.value;
  if (known === undefined) return;
  const wanted = known.orgs.find((each) => each.slug === slug || each.id === slug);
  const active = known.orgs.find(({ id }) => id === known.active_org);
  const chosen = slug === undefined ? (active ?? known.orgs[0]) : wanted;
  orgSlug.value = chosen?.slug ?? slug ?? "";
  callAs({ csrf: known.csrf_token, org: chosen?.id ?? "" });
}

/** Asks who is signed in. Without a session the browser leaves for the sign-in. */
export async function openSession(slug: string | undefined): Promise<void> {
  try {
    me.value = await call("getMe", {});
    chooseOrg(slug);
  } catch (error) {
    if (error instanceof ApiError && error.status !== 401) sessionFault.value = error;
  }
}

/** Asks anew who is signed in, where their orgs or their role may be others now. @throws as `call` */
export async function refreshSession(): Promise<void> {
  me.value = await call("getMe", {});
  chooseOrg(orgSlug.value);
}

/** Whether the org's state refuses an operation: one that is closed takes few changes, one that is suspended none. */
function isRefusedNow(name: Name): boolean {
  const status = listedOrg.value?.status;
  if (ROUTES[name][0] === "GET" || status === undefined || status === "active") return false;
  return status === "suspended" || !FOR_CLOSED.includes(name);
}

/**
 * Whether the person's role opens an operation in this org, as the org is now; those of the operator are open to operators, whatever the
 * org.
 */
export function mayCall(name: Name): boolean {
  const access: string = ROUTES[name][2];
  const person = access.split(" / ")[1];
  if (access === "public" || access === "anyone" || person === "signed in") return true;
  if (access === "operator") return isOperator.value;
  const mine = role.value;
  if (person === undefined || mine === undefined || isRefusedNow(name)) return false;
  return ROLE_OPENS[mine].some((least) => least === person);
}

/** Whether the person's role reads what other keys' calls asked and were answered, while they run too. */
export const mayReadPayloads = (): boolean =>
  role.value !== undefined && ROLE_SCOPES[role.value].some((scope) => scope === "read:payloads");

/** Signs out here, and at the identity provider. */
export async function signOut(): Promise<void> {
  const { logout_url: there } = await call("logout", {});
  location.assign(there);
}
