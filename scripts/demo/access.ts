/** What of other systems reaches into a demo's organisation. */
import { OF_OWN_KEY } from "./catalog.ts";
import type { Person } from "./person.ts";

/** An own account at a provider, a directory that has begun, an analyst. */
export async function makeAccess(url: string, owner: Person): Promise<void> {
  await owner.call("POST", "/v1/provider-keys", {
    provider: OF_OWN_KEY,
    name: "Our South Cloud account",
    credential: "own-demo-key-that-opens-nothing-7Qx4",
  });
  const { token } = await owner.call<{ token: string }>("POST", "/v1/org/scim/token");
  const asked = (method: string, path: string, body?: object) =>
    fetch(`${url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  await asked("GET", `/Users?filter=${encodeURIComponent('userName eq "viewer@example.com"')}`);
  // Without an address nobody can be invited: refused.
  const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"];
  await asked("POST", "/Users", { schemas, userName: "contractor-17" });
  await asked("GET", "/Groups");
  // Where the system cannot confine analysts' statements, there is none.
  const analyst = { name: "Metabase", expires_in: 90 * 86_400 };
  await owner.call("POST", "/v1/analytics/users", analyst, [409, 503]);
}
