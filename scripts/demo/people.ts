/** People of a demo beside its members: somebody who was invited, and another organisation that invites the owner. */
import { NEIGHBOUR, NEWCOMER, OWNER } from "./cast.ts";
import { Person } from "./person.ts";

export async function invitePeople(url: string, owner: Person): Promise<void> {
  const { email } = NEWCOMER;
  await owner.call("POST", "/v1/orgs/first/members", { email, role: "member" });
  const { org, ...name } = NEIGHBOUR;
  const neighbour = await Person.signIn(url, name);
  await neighbour.call("POST", "/v1/orgs", org);
  await neighbour.call("POST", `/v1/orgs/${org.slug}/members`, { email: OWNER.email, role: "viewer" });
}
