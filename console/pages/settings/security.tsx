/** Settings, Security: which sessions open the org. A change that would shut out its author is refused, and said at its field. */
import { useState } from "preact/hooks";
import { faultAt } from "../../api/act.ts";
import type { ApiError } from "../../api/call.ts";
import { mayCall, type Org, org } from "../../app/session.ts";
import { Facts } from "../../parts/facts.tsx";
import { Choice, TextArea, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Panel } from "../../parts/panel.tsx";
import { useOrgChange } from "./org-change.ts";
import { SaveRow } from "./save-row.tsx";
import {
  hoursFault,
  networksIn,
  type SecurityValues,
  securityBody,
  securityValues,
} from "./security-values.ts";

const FACTOR = "/settings/security/require_2fa";
const NETWORKS = "/settings/security/console_ip_allow";
const HOURS = "/settings/security/session_hours";

export function Security() {
  const shown = org.value;
  if (shown === undefined) return null;
  return (
    <>
      {mayCall("updateOrg") ? <Form of={shown} /> : <Shown of={shown} />}
      <Panel title="Signing in">
        <p>
          People sign in with the identity provider of this gateway.
          {mayCall("getScimToken") && (
            <>
              {" "}
              A <Link to={["settings", "directory"]}>directory</Link> can add and remove them by itself.
            </>
          )}
        </p>
        <p class="quiet small">
          These settings bind people. Keys are bound by what they may do, their limits and their end.
        </p>
      </Panel>
    </>
  );
}

function Shown({ of: { settings } }: { readonly of: Org }) {
  const { require_2fa: isSecondFactor, console_ip_allow: networks, session_hours: hours } = settings.security;
  return (
    <Panel title="Sessions">
      <Facts
        rows={[
          ["Second factor", isSecondFactor ? "asked for" : "not asked for"],
          ["Open from", networks.length === 0 ? "anywhere" : networks.join(", ")],
          ["Sign in again after", `${hours} hours`],
        ]}
      />
    </Panel>
  );
}

function Form({ of: shown }: { readonly of: Org }) {
  const [values, setValues] = useState(() => securityValues(shown));
  const change = useOrgChange();
  const wrongHours = hoursFault(values);
  const body = securityBody(shown, values);
  const set = (next: Partial<SecurityValues>) => {
    // What was said is about what was sent.
    change.forget();
    setValues({ ...values, ...next });
  };
  const isNarrowed = body?.settings?.security?.console_ip_allow?.length;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (body !== undefined && wrongHours === undefined) change.save(shown, body);
      }}
    >
      <Panel title="Sessions">
        <div class="columns">
          <Choice
            label="Second factor"
            value={values.isSecondFactor ? "yes" : "no"}
            onValue={(value) => set({ isSecondFactor: value === "yes" })}
            fault={faultAt(change.fault, FACTOR)}
            hint="Asked for: only who signed in with one opens the organisation, from their next request on"
            options={[
              ["no", "Not asked for"],
              ["yes", "Asked for"],
            ]}
          />
          <TextField
            label="Hours after which people sign in again"
            value={values.hours}
            onValue={(hours) => set({ hours })}
            fault={wrongHours ?? faultAt(change.fault, HOURS)}
            hint="1 to 720. Sessions that are older already sign in again at once"
            inputMode="numeric"
          />
        </div>
        <TextArea
          label="Networks from which the organisation is open"
          value={values.networks}
          onValue={(networks) => set({ networks })}
          fault={networksFault(change.fault, values.networks)}
          rows={4}
          isCode
          placeholder={"203.0.113.0/24\n2001:db8::/32"}
          hint={
            isNarrowed
              ? `${networksIn(values.networks).length} listed. Sessions from elsewhere are shut out at once; your own address must be in the list`
              : "An address or a range a line, 64 at most. Empty: from anywhere"
          }
        />
      </Panel>
      <SaveRow
        change={change}
        isChanged={body !== undefined}
        placed={[FACTOR, NETWORKS, HOURS]}
        onDiscard={() => {
          change.forget();
          setValues(securityValues(shown));
        }}
      />
    </form>
  );
}

/** The API names the entry at fault by its place; the field has all of them. */
function networksFault(fault: ApiError | undefined, networks: string): string | undefined {
  if (fault?.param.startsWith(NETWORKS) !== true) return undefined;
  const said = faultAt(fault, fault.param);
  const entry = networksIn(networks)[Number(fault.param.slice(NETWORKS.length + 1) || Number.NaN)];
  return entry === undefined ? said : `“${entry}” cannot be used. ${said}`;
}
