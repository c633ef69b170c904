/**
 * `POST /auth/backchannel-logout`: the identity provider says that a person has signed out there. Each notice is taken once
 * (OpenID Connect Back-Channel Logout 1.0, section 2.6).
 */

import { fail } from "../../base/errors.ts";
import { FullAnswer } from "../../base/operation/answer.ts";
import type { Hook } from "../../base/operation/hook.ts";
import { HOUR_MS } from "../../base/time.ts";
import { type ExpiryPorts, openExpiringTable } from "../../store/tables/expiring-table.ts";
import type { AccountTables } from "../tables.ts";
import type { RelyingParty } from "./relying-party.ts";
import type { Sessions } from "./sessions.ts";

export interface LogoutNoticeDeps extends ExpiryPorts {
  readonly accounts: AccountTables;
  readonly sessions: Sessions;
  readonly provider: RelyingParty;
}

export function logoutNotices({ accounts, sessions, provider, ...ports }: LogoutNoticeDeps) {
  /** [issuer, jti]. */
  const taken = openExpiringTable<true>({
    ...ports,
    rows: "identity.logout_notices",
    periods: "identity.logout_notice_hours",
    periodMs: HOUR_MS,
  });
  const hook: Hook = {
    name: "takeLogoutNotice",
    summary: "For the identity provider: a person has signed out there (`logout_token`, as a form)",
    path: "/auth/backchannel-logout",
    group: "Sign-in",
    maxBytes: 16_384,
    async run(bytes) {
      const token = new URLSearchParams(bytes.toString("latin1")).get("logout_token") ?? "";
      const { iss, sub, sid, jti, expiresAtMs } = await provider.readNotice(token);
      const key = [iss, jti.slice(0, 200)];
      await accounts.act(() => {
        if (taken.get(key) !== undefined) {
          throw fail("invalid_value", "This logout token was used before.", { param: "/logout_token" });
        }
        taken.put(key, true, expiresAtMs);
        const user = accounts.people.bySubject(iss, sub);
        if (sid !== "") sessions.endBySid(iss, sid);
        else if (user !== undefined) sessions.endAllOf(user.id);
      });
      return new FullAnswer<never>({ status: 200 }, {});
    },
  };
  return { hook, close: () => taken.close() };
}
