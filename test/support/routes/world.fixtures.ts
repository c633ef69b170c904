/** What a walk over all routes calls them with: a gateway's first org, its owner, and rows that the good calls need. */
import { joinAt, type SignedInPerson, signInAt } from "../console.fixtures.ts";
import type { TestGateway } from "../gateway.ts";
import { until } from "../wait.ts";
import type { CallWorld } from "./call-world.ts";

export interface WorldParts {
  readonly gateway: TestGateway;
  readonly owner: SignedInPerson;
  readonly requestId: string;
  readonly invoiceId: string;
}

export async function openWorld({ gateway, owner, requestId, invoiceId }: WorldParts): Promise<CallWorld> {
  const [{ json: me }, { json: projects }] = [
    await owner.call("GET", "/auth/me"),
    await owner.call("GET", "/v1/projects"),
  ];
  let members = 0;
  return {
    orgId: me.active_org,
    projectId: projects.data[0].id,
    requestId,
    invoiceId,
    asOwner: (method, path, body) => owner.call(method, path, { ...(body && { body }) }),
    asKey: (method, path, body) => gateway.call(method, path, { ...(body && { body }) }),
    async newMember(status) {
      const email = `member-${++members}@example.com`;
      const { json } = await owner.call("POST", "/v1/orgs/first/members", { body: { email } });
      return status === "active" ? (await joinAt(gateway.url, { email })).id : json.user_id;
    },
    async mailId() {
      const body = { email: `mailed-${++members}@example.com` };
      await owner.call("POST", "/v1/orgs/first/members", { body });
      let id: string | undefined;
      await until("the mail is written", async () => {
        [, id] = /mail\/(job_\w+)/.exec((await gateway.call("GET", "/dev/mail", { key: null })).text) ?? [];
        return id !== undefined;
      });
      return id ?? "";
    },
    async invitationId() {
      const slug = `host-${++members}`;
      const host = await signInAt(gateway.url, { email: `${slug}@example.com` });
      await host.call("POST", "/v1/orgs", { body: { slug, name: slug, billing_country: "US" } });
      await host.call("POST", `/v1/orgs/${slug}/members`, { body: { email: "owner@example.com" } });
      return (await owner.call("GET", "/auth/invitations")).json.data[0].id;
    },
    async spareSession() {
      await signInAt(gateway.url, { email: "owner@example.com" });
      const { json } = await owner.call("GET", "/auth/sessions");
      return json.data.findLast((session: { current: boolean }) => !session.current).id;
    },
  };
}
