/** Acts of the account that end something, asked for by many at the same time: what was promised to have ended stays so. */
import { expect } from "vitest";
import { type Match, type People, recordsOf } from "./matches.ts";
import type { Person, World } from "./world.ts";

export async function orgClosed(world: World, { ada }: People): Promise<Match> {
  const org = await world.org(ada);
  const { secret } = await world.done("POST", "/v1/keys", ada, {
    org,
    body: { project_id: org.projectId, name: "works until then" },
  });
  return {
    name: "an org closed",
    outcomes: 1,
    refusals: [],
    org: { org, reader: async () => ada },
    call: (n) =>
      world.call("POST", `/v1/orgs/${org.id}/close`, ada, {
        body: { confirm: org.slug, refund_requested: n % 2 === 0 },
      }),
    told: ({ json }) => (json.status === "closed" ? org.id : "not closed"),
    async state() {
      const isClosed = (await world.done("GET", `/v1/orgs/${org.id}`, ada)).status === "closed";
      const { status, json } = await world.call("GET", "/v1/models", secret);
      expect(isClosed ? json.error.code : status).toBe(isClosed ? "org_closed" : 200);
      expect(await world.list("/v1/tickets", ada, org)).toHaveLength(isClosed ? 1 : 0);
      return {
        changed: isClosed ? [org.id] : [],
        records: await recordsOf(world, ada, org, { events: { "org.closed": "id" }, acts: ["org.close"] }),
        mails: world.mails(`${org.slug} was closed`).length,
      };
    },
  };
}

const SESSIONS = 12;

/** A third each: by their own sign-out, by their person elsewhere, by a notice of the identity provider. */
export async function sessionsEnded(world: World): Promise<Match> {
  const name = `leaver-${world.slug()}`;
  const keeper = await world.signIn(name, {}, `${name} stays`);
  const sessions: Person[] = [];
  for (let n = 0; n < SESSIONS; n++) sessions.push(await world.signIn(name, {}, `${name} ${n}`));
  return {
    name: "sessions ended",
    outcomes: SESSIONS,
    refusals: ["not_found", "session_expired"],
    async call(n) {
      const which = n % SESSIONS;
      const session = sessions[which] as Person;
      if (which % 3 === 0) return await world.call("POST", "/auth/logout", session);
      if (which % 3 === 1) return await world.call("DELETE", `/auth/sessions/${session.sessionId}`, keeper);
      const token = await world.provider.logoutToken({ sub: name, sid: `${name} ${which}` });
      return await world.form("/auth/backchannel-logout", { logout_token: token });
    },
    told: (_, n) => sessions[n % SESSIONS]?.sessionId,
    async state() {
      const alive = (await world.list("/auth/sessions", keeper)).map(({ id }) => id);
      expect(alive).toContain(keeper.sessionId);
      for (const session of sessions) {
        const { status } = await world.call("GET", "/auth/me", session);
        expect(status).toBe(alive.includes(session.sessionId) ? 200 : 401);
      }
      return {
        changed: sessions.map(({ sessionId }) => sessionId).filter((id) => !alive.includes(id)),
        records: {},
      };
    },
  };
}
